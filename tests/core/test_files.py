"""What is replaced, and what is not."""

import os

import pytest

from evalframe.core.errors import OutputError
from evalframe.core.files import replacing


def write(path, text="new"):
    with replacing(path) as partial:
        partial.write_text(text)


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    target, link = folder / "real.txt", tmp_path / "link.txt"
    link.symlink_to("folder/real.txt")
    for text in ("first", "second"):
        write(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
        assert list(folder.iterdir()) == [target]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_replaced_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(mode)
    write(path)
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == mode


def test_only_regular_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to_pipe").symlink_to("pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    (tmp_path / "astray").symlink_to("absent/out.txt")
    before = sorted(tmp_path.iterdir())
    for name, told in {
        "pipe": "cannot write pipe: it is not a regular file; choose another output",
        "to_pipe": "cannot write to_pipe: it is not a regular file",
        "loop": "cannot write loop: it is not a regular file",
        "folder": "cannot write folder: there is a folder of this name",
        "astray": "cannot write astray: no folder .*absent'; create it first",
    }.items():
        with pytest.raises(OutputError, match=told):
            write(tmp_path / name)
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "pipe").is_fifo()
