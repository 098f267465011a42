"""What the help of each command says beneath its flags."""

EPILOG = """\b
Examples:
  evalframe sample data
  evalframe selective data/items.parquet -o report.parquet --by mode
  evalframe selective data/items.parquet -o report.csv --by mode \\
      --confidence confidence,verbalized --bootstrap 10000 --seed 42
  evalframe selective --from-run data/run.json --mode few_shot --artifact out.json
  evalframe calibrate --from-run data/run.json --mode few_shot --method verbalized \\
      -o calibration.json
  evalframe rag data/rag_responses.parquet -o rates.parquet
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
  evalframe selective items.parquet -o report.parquet --by model,mode
  evalframe selective trials/ -o areas.json --metrics aurc,augrc,risk_at_0.50 \\
      --loss column:is_wrong
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
Prompts are made by another command:
  evalframe rag documents --help
"""

RAG_DOCUMENTS_EPILOG = """\b
Examples:
  evalframe rag documents data/rag_instances.parquet --noise 0,0.2,0.4,0.6,0.8 \\
      -o prompts.parquet
  evalframe rag documents facts.parquet --correct 0.4 --order seeded --seed 7 \\
      -o prompts.jsonl
"""
