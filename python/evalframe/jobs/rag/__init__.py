"""Jobs of the rag family."""

from evalframe.jobs.family import Demo, Family, Lazy

FAMILY = Family(
    name="rag",
    title="Robustness of retrieval-augmented generation: rates of responses, prompts.",
    main="rates",
    items="RESPONSES",
    job=Lazy("evalframe.jobs.rag.job:RagJob"),
    compute=Lazy("evalframe.jobs.rag.run:compute"),
    check=Lazy("evalframe.jobs.rag.run:check"),
    report=Lazy("evalframe.jobs.rag.run:written"),
    roles=Lazy("evalframe.jobs.rag.inputs:ROLES"),
    tables=Lazy("evalframe.jobs.rag.run:TABLES"),
    sample=Lazy("evalframe.rag.sample.responses:sample_files"),
    reader="rgb",
    commands={"documents": Lazy("evalframe.jobs.rag.commands:documents")},
    demo=Demo(
        question="Retrieval-augmented generation: do answers survive documents that do not help?",
        reading="noise_rate: the share of the documents that does not hold the answer. accuracy: "
        "the share of responses with all parts of the answer. rejected: the share that says it "
        "cannot answer. dropped: responses without text. Look at how fast accuracy falls as noise "
        "rises.",
        words=("{rag_responses}",),
        output="rag",
        table=Lazy("evalframe.jobs.rag.commands:noise_robustness"),
    ),
)
