"""Jobs of the replication family."""

from evalframe.jobs.family import Demo, Family, Lazy

FAMILY = Family(
    name="replication",
    title="Replication of human studies by agents: PAS and ECS, from test to model.",
    main="scores",
    items="TESTS",
    job=Lazy("evalframe.jobs.replication.job:ReplicationJob"),
    compute=Lazy("evalframe.jobs.replication.run:compute"),
    check=Lazy("evalframe.jobs.replication.run:check"),
    report=Lazy("evalframe.jobs.replication.run:written"),
    roles=Lazy("evalframe.jobs.replication.inputs:ROLES"),
    tables=Lazy("evalframe.jobs.replication.outputs:TABLES"),
    sample=Lazy("evalframe.replication.sample:sample_files"),
    reader="results",
    demo=Demo(
        question="Replication: do agents behave as the humans of published studies did?",
        reading="PAS: do agents find an effect where humans do. ECS: is it as large. Look at "
        "both: who agrees on what there is may be wrong about how much.",
        words=("{replication_tests}",),
        output="replication",
    ),
)
