"""Jobs of the selective family."""

from evalframe.jobs.family import Demo, Family, Lazy

FAMILY = Family(
    name="selective",
    title="Selective prediction: metrics of predictions that may abstain, calibration.",
    main="evaluate",
    items="ITEMS",
    job=Lazy("evalframe.jobs.selective.job:SelectiveJob"),
    compute=Lazy("evalframe.jobs.selective.run:compute"),
    check=Lazy("evalframe.jobs.selective.run:check"),
    report=Lazy("evalframe.jobs.selective.run:written"),
    roles=Lazy("evalframe.jobs.selective.run:roles"),
    tables=Lazy("evalframe.jobs.selective.run:TABLES"),
    sample=Lazy("evalframe.compat.ai_psychiatrist.sample:sample_files"),
    reader="run",
    documents=Lazy("evalframe.jobs.selective.commands:RUNS"),
    commands={"calibrate": Lazy("evalframe.jobs.selective.commands:calibrate")},
    shortcuts=("calibrate", "validate"),
    demo=Demo(
        question="Selective prediction: is a system right where it is sure?",
        reading="AURC: the area under the loss of the most confident items over how many they "
        "are, lower is better; answering less lowers it, too, so read it beside Cmax, the share "
        "of items that is answered. risk@0.50: the mean loss (0 is right, 1 as wrong as can be) "
        "of the half of all items that is most confident.",
        words=(
            *("{items}", "--by", "mode"),
            *("--loss", "abs_norm", "--metrics", "aurc,coverage,risk_at_0.50"),
        ),
        output="selective.parquet",
    ),
)
