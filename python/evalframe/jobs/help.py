"""What the help of each command says beneath its flags."""

EPILOG = """\b
Examples:
  evalframe sample data
  evalframe demo data
  evalframe selective data/items.parquet --by mode --loss abs_norm
  evalframe selective data/items.parquet -o report.csv --by mode --loss abs_norm \\
      --confidence confidence,verbalized --bootstrap 10000 --seed 42
  evalframe selective --from-run data/run.json --mode few_shot --artifact out.json
  evalframe calibrate --from-run data/run.json --mode few_shot --method verbalized \\
      -o calibration.json
  evalframe rag data/rag_responses.parquet -o rates.parquet
  evalframe survey data/survey_responses.parquet --truth data/survey.parquet -o tables
  evalframe replication data/replication_tests.parquet -o scores
  evalframe run report.toml
  evalframe metrics --family selective

\b
Exit codes:
  0    done
  1    the data or the job is wrong; the message begins with "error:"
  2    the command line is wrong
  130  interrupted; the old output is whole and nothing is left beside it
"""

SELECTIVE_EPILOG = """\b
Examples:
  evalframe selective items.parquet --by model,mode
  evalframe selective trials/ -o areas.json --metrics aurc,augrc,risk_at_0.50 \\
      --column loss=is_wrong
  evalframe selective 'shards/*.parquet' -o report.csv --loss zero_one \\
      --confidence stated,token_msp --participant cluster_id --by model \\
      --metrics coverage,aurc,risk_at_0.50 --bootstrap 10000 --seed 42

\b
The last as a job file, for `evalframe run`:
  family = "selective"
  items = ["shards/*.parquet"]
  output = "report.csv"
  by = ["model"]
  confidence = ["stated", "token_msp"]
  metrics = ["coverage", "aurc", "risk_at_0.50"]
  loss = { name = "zero_one" }
  columns = { participant = "cluster_id" }
  bootstrap = { n = 10000, seed = 42 }

\b
In a job file a metric may be a table with arguments and a name of its own:
  { name = "aurc", alias = "aurc_fd", convention = "trapezoid_predicted" }
A metric of your own goes by its import path, my_metrics:gini, from the folder of the job
file or installed. Naming a module runs it: run job files of others as you would their
programs.

\b
Run documents, one by itself and two in comparison:
  evalframe selective --from-run run.json --mode few_shot --confidence all \\
      --bootstrap 1000 --artifact out.json -o report.md
  evalframe selective --from-run a.json b.json --mode few_shot \\
      --confidence token_msp,secondary:token_msp+verbalized:average \\
      --intersection-only --artifact paired.json
"""

CALIBRATE_EPILOG = """\b
Examples:
  evalframe calibrate --from-run run.json --mode few_shot --method verbalized \\
      -o verbalized.json
  evalframe calibrate --from-run run.json --mode few_shot --method logistic \\
      --features token_msp,consistency_modal_confidence --folds 5 -o model.json
  evalframe calibrate items.parquet --method isotonic --features token_msp \\
      --target near_correct -o map.json
  evalframe selective other.parquet --calibration map.json --loss abs_norm \\
      --metrics aurc,expected_calibration_error
  evalframe selective --from-run other.json --mode few_shot \\
      --confidence calibrated:token_msp --calibration map.json --artifact out.json
"""

RAG_EPILOG = """\b
Examples:
  evalframe rag data/rag_responses.parquet -o rates.parquet
  evalframe rag responses/ --instances instances.parquet -o tables/ \\
      --mode lenient --bootstrap 2000
  evalframe rag --from-rgb result-en/ -o rates.md --by model,dataset,noise_rate

\b
The last as a job file, for `evalframe run`:
  family = "rag"
  items = ["result-en/"]
  rgb = true
  output = "rates.md"
  by = ["model", "dataset", "noise_rate"]

\b
A folder as output gets rates.parquet, accuracy_drop.parquet and a table for each ability
in its published layout.

\b
Prompts are made by another command, and come back by their id:
  evalframe rag documents --help
  evalframe rag replies.jsonl --prompts prompts.jsonl -o rates.parquet
"""

RAG_DOCUMENTS_EPILOG = """\b
Examples:
  evalframe rag documents data/rag_instances.parquet --noise 0,0.2,0.4,0.6,0.8 \\
      -o prompts.parquet
  evalframe rag documents facts.parquet --correct 0.4 --order seeded --seed 7 \\
      -o prompts.jsonl
"""

SURVEY_EPILOG = """\b
Examples:
  evalframe survey data/survey_responses.parquet --truth data/survey.parquet \\
      -o tables
  evalframe survey answers/ --truth 'rounds/*.json' -o overall.md \\
      --weighting question --bootstrap 2000 --cluster question_id
  evalframe survey answers.csv --truth respondents.csv --answers q1,q2,q3 -o overall.md
  evalframe survey --from-runs results/ --versions latest --rules reference -o tables

\b
The last as a job file, for `evalframe run`:
  family = "survey"
  items = ["results/"]
  runs = true
  versions = "latest"
  rules = "reference"
  output = "tables"

\b
A folder as output gets the leaderboards (overall, category, segment, question), consistency,
disparity, model_disparity, question_disparity, category_leaders, segment_overview,
segment_scores, attribute_breakdown, context_responsiveness and stereotype_score, and the
scores themselves, as Parquet. --bootstrap N puts intervals into overall and category, and
adds pairwise: a test of each pair of models by N sign flips.

\b
Further commands:
  evalframe survey prompts --help      prompts from a survey
  evalframe survey baselines --help    what knows nothing of the segments scores
  evalframe survey validate --help     a survey checked
"""

SURVEY_PROMPTS_EPILOG = """\b
Examples:
  evalframe survey prompts data/survey.parquet -o prompts.jsonl
  evalframe survey prompts round.json --context-count 10 --batch-size 5 \\
      -o prompts.parquet --blueprints blueprints.parquet
  evalframe survey replies.jsonl --prompts prompts.jsonl --truth data/survey.parquet \\
      -o tables
  evalframe survey prompts survey.parquet --questions-from questions.parquet \\
      --context-count all --context-format interview --reasoning cot -o prompts.parquet
"""

SURVEY_BASELINES_EPILOG = """\b
Examples:
  evalframe survey baselines data/survey.parquet -o baselines.parquet
  evalframe survey baselines round5.json --prior round4.json --permutations 1000 \\
      -o baselines.parquet
  evalframe survey baselines.parquet -o leaderboards
"""

REPLICATION_EPILOG = """\b
Examples:
  evalframe replication data/replication_tests.parquet -o scores --bootstrap 2000
  evalframe replication data/replication_tests.parquet -o models.md --bootstrap 1000 \\
      --participants data/replication_responses.parquet \\
      --design data/replication_designs.parquet --cluster participant
  evalframe replication --from-results results/ -o scores --rules reference

\b
The last as a job file, for `evalframe run`:
  family = "replication"
  items = ["results/"]
  results = true
  rules = "reference"
  output = "scores"

\b
A folder as output gets models, domains, studies and findings with their PAS, the tests with
all that was made of them, and ecs, with the concordance of effects at every level, as
Parquet. --bootstrap N puts intervals beside PAS and ECS of models and domains, and adds
differences: of each pair of models, over the studies that they share. --cluster says for
what: other studies (study), other findings of these (finding), or the same agents asked
again (participant), which has no differences, but intervals of studies.

\b
A further command:
  evalframe replication validate --help    tests checked, and what a model lacks
"""
