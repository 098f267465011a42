"""Jobs of the survey family."""

from evalframe.jobs.family import Demo, Family, Lazy

FAMILY = Family(
    name="survey",
    title="Answers of demographic segments: leaderboards of predictions, prompts, baselines.",
    main="leaderboards",
    items="PREDICTIONS",
    job=Lazy("evalframe.jobs.survey.job:SurveyJob"),
    compute=Lazy("evalframe.jobs.survey.run:compute"),
    check=Lazy("evalframe.jobs.survey.run:check"),
    report=Lazy("evalframe.jobs.survey.run:written"),
    roles=Lazy("evalframe.jobs.survey.surveys:ROLES"),
    tables=Lazy("evalframe.jobs.survey.outputs:TABLES"),
    sample=Lazy("evalframe.survey.sample:sample_files"),
    reader="runs",
    validate=Lazy("evalframe.jobs.survey.commands:validate_surveys"),
    commands={
        "prompts": Lazy("evalframe.jobs.survey.commands:prompts"),
        "baselines": Lazy("evalframe.jobs.survey.commands:baselines"),
    },
    demo=Demo(
        question="Survey distributions: do models know what segments of a population answer?",
        reading="score: how alike the predicted and actual shares of the options are, 1 is the "
        "same, as a mean over segments. parsed: the share of responses with a distribution to "
        "read. Look at which models are above the baselines: uniform knows nothing, "
        "population-marginal knows what all people answered.",
        words=("{survey_responses}", "--truth", "{survey}"),
        output="survey",
    ),
)
