"""The public surface as one product: no twin functions, one name for one thing, documented.

Each table of exceptions says why. An exception that no longer holds fails too, so that the tables
only get shorter.
"""

import ast
import builtins
import doctest
import functools
import inspect
import re
import types
from collections import defaultdict
from pathlib import Path

import pytest

import evalframe
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import SYNONYMS

SOURCES = (
    evalframe,
    evalframe.selective,
    evalframe.rag,
    evalframe.survey,
    evalframe.replication,
    evalframe.plot,
    humanstudy_bench,
)
FAMILIES = ("selective", "rag", "survey", "replication")


EXPLAINED = (
    *SOURCES,
    evalframe.engine,
    evalframe.logs,
    evalframe.testing,
    *(getattr(evalframe.compat, program) for program in evalframe.compat.PROGRAMS),
)


def family(value):
    """The room a public object is defined in."""
    return value.__module__.split(".")[1]


@functools.cache
def objects():
    """Public functions and classes, as `room.name`."""
    found = {}
    for source in SOURCES:
        for name in source.__all__:
            if source is humanstudy_bench and hasattr(evalframe.replication, name):
                continue  # an adaptor, with the arguments of what it stands in for
            value = getattr(source, name)
            mine = getattr(value, "__module__", "").startswith("evalframe")
            if mine and isinstance(value, types.FunctionType | type):
                found[f"{family(value)}.{name}"] = value
    return found


def functions():
    return {name: value for name, value in objects().items() if not isinstance(value, type)}


@functools.cache
def explained():
    """Public functions and classes of all packages, adaptors among them, as `package.name`."""
    found = {}
    for source in EXPLAINED:
        for name in source.__all__:
            value = getattr(source, name)
            if isinstance(value, types.FunctionType | type):
                found[f"{source.__name__}.{name}"] = value
    return found


@functools.cache
def definitions(file):
    """The functions at the top of a file, by name."""
    body = ast.parse(Path(file).read_text()).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def body(function):
    """The statements of a public function, without its docstring."""
    plain = inspect.unwrap(function)
    definition = definitions(inspect.getfile(plain))[plain.__name__]
    return ast.Module(definition.body[ast.get_docstring(definition) is not None :], [])


SAME_NAME = {
    "consistency": "of samples of a response; of segments; of directions of tests: three things",
    "contract": "of tables of different columns",
    "prompt": "of questions with documents; of questions to a segment",
    "rank": "ranks systems; draws the ranks of systems",
    "rate": "of responses; of replicated findings",
    "read_response": "to prompts of different families, by one function of core",
    "response_contract": "tables of different columns",
    "write_prompt": "different prompts in the same two formats",
}
"""Names that several families use, once words of a family and plurals are left out."""

_OF_A_FAMILY = {*FAMILIES, "rgb", "run", "runs"}


def bare(name):
    words = [word.removesuffix("s") for word in name.lower().split("_") if word not in _OF_A_FAMILY]
    return "_".join(words)


def test_no_two_public_functions_differ_only_by_the_name_of_their_family():
    rooms = defaultdict(set)
    for name in functions():
        room, _, own = name.partition(".")
        rooms[bare(own)].add(room)
    shared = {name for name, where in rooms.items() if name and len(where) > 1}
    assert shared == set(SAME_NAME), "a function of `core`, or a name that says the difference"


_THIN = 20
"""Nodes of a body that is too short to be called a copy."""


def shape(statements):
    """What statements do, whatever the names, numbers and texts in them."""
    return tuple((type(node), getattr(node, "attr", None)) for node in ast.walk(statements))


def test_no_two_public_functions_of_different_families_have_the_same_body():
    shapes = defaultdict(set)
    for name, function in functions().items():
        made = shape(body(function))
        if len(made) > _THIN:
            shapes[made].add(name)
    for names in shapes.values():
        assert len({name.partition(".")[0] for name in names}) == 1, names


ONE_NAME = {
    "by": {"groupby", "group_by", "groups", "keys", "per"},
    "weight": {"weights", "sample_weight", "frequency"},
    "resample": {"bootstrap", "resampling", "uncertainty"},
    "n": {"n_boot", "n_bootstrap", "n_resamples", "replicates", "iterations", "repeats"},
    "seed": {"random_state", "rng"},
    "level": {"alpha", "ci", "confidence_level", "significance_level"},
    "cluster": {"clusters", "unit"},
    "between": {"systems", "contrast"},
    "rules": {"compat", "compatibility", "strict", "legacy", "original"},
    "path": {"file", "filename", "source", "output", "target_path"},
    "folder": {"directory", "dir", "out_dir"},
    "overwrite": {"force", "replace", "exist_ok"},
    "on_invalid": {"errors", "invalid", "on_error"},
    "correction": {"adjustment", "adjust", "p_adjust"},
    "participant": {"subject", "person", "participant_id"},
    "created_at": {"generated_at", "timestamp", "now"},
    "std_error": {"se", "standard_error", "standard_error_agent", "standard_error_human"},
    "correct_passage_rate": {"correct_rate"},
    "tolerance": {"atol", "eps"},
    "sample_size": {"n_samples", "sample_sizes", "n_individuals"},
}
"""What one thing is called, and what it must not be called besides."""

OTHER_NAMES = {
    **dict.fromkeys(
        (
            f"logs.{name} strict"
            for name in (
                *("read_every_eval_ever", "read_helm", "read_inspect", "read_lm_eval"),
                "read_logs",
            )
        ),
        "whether a broken file among others is an error",
    ),
    "selective.fit_linear alpha": "the penalty, as scikit-learn calls it",
    "selective.read_calibration source": "a file, or what one holds",
    "rag.document_counts correct_rate": "as select_documents, whose documents it counts",
    "rag.select_documents correct_rate": "a word of RGB, whose documents it selects",
    "survey.config_id n_individuals": "asked for, not found in the data",
    "survey.prompts n_individuals": "asked for, not found in the data",
    "core.per unit": "what a metric is computed in, which need not be what is drawn",
    "survey.survey_contract unit": "of the shares: percent or fraction",
    "replication.preferred_std_error bootstrap": "a column: the error by the bootstrap",
    "replication.replicated significance_level": "of a test: level is that of an interval",
    "replication.reported_p_value significance_level": "of a test: level is that of an interval",
}
"""Where it is called otherwise, and why."""


def test_one_thing_has_one_name_in_all_families():
    canonical = {other: name for name, others in ONE_NAME.items() for other in others}
    found = {
        f"{name} {argument}"
        for name, function in functions().items()
        for argument in inspect.signature(function).parameters
        if argument in canonical
    }
    assert found == set(OTHER_NAMES), canonical


REQUIRED = inspect.Parameter.empty
VOCABULARY = {
    "weight": ({"Role", "IntoExpr"}, {None}),
    "by": ({"By", "IntoExpr | Sequence[IntoExpr]"}, None),
    "between": ({"IntoExpr"}, None),
    "cluster": ({"IntoExpr"}, {REQUIRED, None}),
    "resample": ({"Bootstrap", "Method"}, {REQUIRED, None}),
    "rules": ({"Rules"}, {"documented"}),
    "seed": ({"int"}, {42}),
    "level": ({"float"}, {0.95}),
    "n": ({"int", "IntoExpr"}, None),
    "correction": ({"Correction"}, {"holm"}),
    "on_invalid": ({"OnInvalid"}, {"raise"}),
    "path": ({"str | Path", "Source", "Sources", "Paths"}, {REQUIRED}),
    "folder": ({"str | Path"}, {REQUIRED}),
    "overwrite": ({"bool"}, {False}),
    "metrics": ({"AnyMetric | Sequence[AnyMetric]"}, {REQUIRED}),
}
"""Arguments of all families: their types, None apart, and defaults (None for any)."""

OTHERWISE = {
    **dict.fromkeys(
        (
            f"plot.{name} level"
            for name in ("forest", "noise", "ranks", "reliability", "risk_coverage")
        ),
        "of the intervals of a table, which does not hold it, for the caption",
    ),
    "sections.report level": "of the intervals of results, likewise",
    "reporting.show cluster": "the name of what was resampled, likewise to be named",
    "reporting.show level": "of the intervals of a table, which does not have it, to be named",
    "survey.sign_flip_test cluster": "the question, which is one of its keys; None: each key",
    "evaluation.retract cluster": "the ids of some, whose column the state knows",
    "ranking.rank level": "by default that of its bootstrap",
    "core.validate on_invalid": "the same two texts, spelt out",
    "selective.compare_at_coverage metrics": "areas and risks at a coverage, by name",
    "selective.to_artifact metrics": "of the calibrator, to be written",
    "selective.write_calibration metrics": "of the calibrator, to be written",
    "selective.train cluster": "as its command, with the column of the participant",
    "survey.prompts seed": "none: no shuffling",
    "survey.seeded_sample seed": "a text, as the original has it",
    "survey.context_responsiveness level": "of aggregation, not of an interval",
    "survey.leaderboard level": "of aggregation, not of an interval",
    "survey.leaderboard_score level": "of aggregation, not of an interval",
    "replication.ecs level": "of aggregation, not of an interval",
    "replication.participant_intervals level": "of aggregation, not of an interval",
    "replication.random_alignment level": "of aggregation, not of an interval",
    "replication.replication_rates level": "of aggregation, not of an interval",
    "compat.strict_ecs level": "of aggregation, not of an interval",
    "replication.model_differences metrics": "scores of models, by name",
    "compat.read_results path": "a file, or what one holds",
    "core.per weight": "of a unit: a metric, or a column",
}
"""Arguments of those names that are something else, and why."""


def test_an_argument_is_the_same_thing_in_all_families():
    found = set()
    for name, function in functions().items():
        if name.endswith("_contract"):  # its arguments are names of columns
            continue
        for argument in inspect.signature(function).parameters.values():
            kinds, defaults = VOCABULARY.get(argument.name, (None, None))
            kind = str(argument.annotation).removesuffix(" | None")
            if kinds is None or (
                kind in kinds and (defaults is None or argument.default in defaults)
            ):
                continue
            found.add(f"{name} {argument.name}")
    assert found == set(OTHERWISE)


def section(docstring, title):
    """The lines of a section of a docstring; None if it has none."""
    found = re.search(rf"^{title}:\n((?:    .*\n|\n)*)", f"{docstring}\n", re.MULTILINE)
    return found and found[1]


def names_without_a_meaning(examples):
    """What the examples use that they neither define nor import."""
    nodes = [*ast.walk(ast.parse("".join(each.source for each in examples)))]
    known = {*dir(builtins)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            known |= {each.asname or each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            known.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ExceptHandler):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
    return {node.id for node in nodes if isinstance(node, ast.Name)} - known


def test_every_public_name_has_a_docstring_with_an_example_that_runs_anywhere():
    parser = doctest.DocTestParser()
    for name, value in explained().items():
        docstring = inspect.getdoc(value) or ""
        assert docstring.partition("\n")[0].endswith("."), f"{name}: say what it is in one line"
        examples = parser.get_examples(section(docstring, "Examples") or "")
        assert examples, f"{name}: show how it is used"
        unknown = names_without_a_meaning(examples)
        assert not unknown, f"{name}: import {unknown} in its example"


def test_every_public_method_has_a_docstring():
    for name, value in explained().items():
        if isinstance(value, type):
            for own, member in vars(value).items():
                if not own.startswith("_") and isinstance(
                    member, types.FunctionType | property | classmethod | staticmethod
                ):
                    assert inspect.getdoc(member), f"{name}.{own}"


def test_every_argument_and_result_of_a_public_function_is_explained():
    for name, function in explained().items():
        if isinstance(function, type):
            continue
        docstring, signature = inspect.getdoc(function) or "", inspect.signature(function)
        arguments = section(docstring, "Args") or ""
        for argument in signature.parameters:
            said = re.search(rf"^ *[\w*, ]*\b{argument}\b[\w*, ]*:", arguments, re.MULTILINE)
            assert said, f"{name}: say what {argument} is"
        if signature.return_annotation != "None":
            assert section(docstring, "Returns"), f"{name}: say what it returns"


def test_an_adaptor_has_the_arguments_of_what_it_adapts():
    adaptors = {*humanstudy_bench.__all__} & {*evalframe.replication.__all__}
    assert len(adaptors) > 15
    for name in adaptors:
        adaptor, sound = (
            {*inspect.signature(getattr(room, name)).parameters}
            for room in (humanstudy_bench, evalframe.replication)
        )
        assert adaptor <= sound, name


def test_a_public_function_that_raises_says_so():
    for name, function in functions().items():
        if any(isinstance(node, ast.Raise) for node in ast.walk(body(function))):
            assert section(inspect.getdoc(function) or "", "Raises"), name


def test_other_names_of_metrics_suggest_the_known_ones():
    for name, meant in SYNONYMS.items():
        known, *more = meant.partition(",")
        told = f"has no attribute '{name}'. Did you mean '{known}'{''.join(more)}?"
        with pytest.raises(AttributeError, match=re.escape(told)):
            getattr(evalframe, name)
        assert known in evalframe.__all__
        assert name not in evalframe.__all__
    assert len(SYNONYMS) > 50
