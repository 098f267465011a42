"""The samples of all families, written into one folder."""

from __future__ import annotations

import json
from pathlib import Path

from evalframe.core.errors import OutputError
from evalframe.core.files import replacing_all
from evalframe.jobs.family import FAMILIES, family

MANIFEST = "manifest.json"


def write_samples(
    folder: str | Path, *, participants: int = 60, seed: int = 0, overwrite: bool = False
) -> list[Path]:
    """Write the samples of all families, and `manifest.json`, which describes them.

    The same seed gives the same content on every machine. All files are written whole, or none.
    """
    folder = Path(folder)
    sizes = {"selective": {"participants": participants}}
    files = [
        file
        for name in FAMILIES
        for file in family(name).sample.value(seed=seed, **sizes.get(name, {}))
    ]
    manifest = {Path(file.name).stem: file.entry() for file in files}
    contents = {folder / file.name: file.encoded() for file in files}
    contents[folder / MANIFEST] = f"{json.dumps(manifest, indent=2)}\n".encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign = [path.name for path, new in contents.items() if _holds_other(path, new)]
        if foreign and not overwrite:
            raise OutputError(
                f"{folder} already has {', '.join(foreign)} with other content. "
                "Choose another folder, or say overwrite to replace them."
            )
        with replacing_all([*contents]) as partials:
            for partial, content in zip(partials, contents.values(), strict=True):
                partial.write_bytes(content)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(
            f"cannot write the samples to {folder}: {reason}. Choose a folder that can be written."
        ) from error
    return list(contents)


def _holds_other(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() != content
