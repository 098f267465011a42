"""Public names of evalframe, each with its module."""

from evalframe import (
    compat as compat,
    engine as engine,
    logs as logs,
    plot as plot,
    rag as rag,
    replication as replication,
    selective as selective,
    survey as survey,
    testing as testing,
)
from evalframe.comparison import compare as compare
from evalframe.core.contract import (
    Column as Column,
    Contract as Contract,
    Validation as Validation,
    Rule as Rule,
    validate as validate,
)
from evalframe.core.errors import EvalframeError as EvalframeError
from evalframe.core.metric import metric as metric
from evalframe.core.variants import metric_set as metric_set
from evalframe.core.state import (
    Axis as Axis,
    State as State,
    at as at,
    before as before,
    level as level,
    own as own,
    ratio as ratio,
)
from evalframe.core.per import per as per
from evalframe.core.typing import Role as Role
from evalframe.core.variants import variant as variant
from evalframe.engine.store import StateStore as StateStore
from evalframe.evaluation import (
    evaluate as evaluate,
    finish as finish,
    merge as merge,
    partial as partial,
    retract as retract,
)
from evalframe.logs.checking import check_logs as check_logs
from evalframe.logs.every_eval_ever.reading import read_every_eval_ever as read_every_eval_ever
from evalframe.logs.every_eval_ever.writing import write_every_eval_ever as write_every_eval_ever
from evalframe.logs.helm.reading import read_helm as read_helm
from evalframe.logs.inspect.reading import read_inspect as read_inspect
from evalframe.logs.lm_eval.reading import read_lm_eval as read_lm_eval
from evalframe.logs.reading import read_logs as read_logs
from evalframe.logs.report import log_report as log_report
from evalframe.ranking import rank as rank
from evalframe.rag.metrics import (
    all_rate as all_rate,
    answer_accuracy as answer_accuracy,
    error_correction_rate as error_correction_rate,
    error_detection_rate as error_detection_rate,
    judge_correction_rate as judge_correction_rate,
    judge_detection_rate as judge_detection_rate,
    judge_rejection_rate as judge_rejection_rate,
    rejection_rate as rejection_rate,
)
from evalframe.reference_texts import explain as explain
from evalframe.replication.agreement.alignment import pas as pas
from evalframe.replication.agreement.metrics import (
    concordance_correlation as concordance_correlation,
    mean_pas as mean_pas,
    pooled_pas as pooled_pas,
    regression_intercept as regression_intercept,
    regression_slope as regression_slope,
)
from evalframe.replication.agreement.posteriors import posterior as posterior
from evalframe.replication.bayes_factors.expressions import (
    bayes_factor_binomial as bayes_factor_binomial,
    bayes_factor_bound as bayes_factor_bound,
    bayes_factor_chi2 as bayes_factor_chi2,
    bayes_factor_f as bayes_factor_f,
    bayes_factor_r as bayes_factor_r,
    bayes_factor_t as bayes_factor_t,
    bayes_factor_u as bayes_factor_u,
    bayes_factor_variance_ratio as bayes_factor_variance_ratio,
    log_bayes_factor_binomial as log_bayes_factor_binomial,
    log_bayes_factor_bound as log_bayes_factor_bound,
    log_bayes_factor_chi2 as log_bayes_factor_chi2,
    log_bayes_factor_f as log_bayes_factor_f,
    log_bayes_factor_r as log_bayes_factor_r,
    log_bayes_factor_t as log_bayes_factor_t,
    log_bayes_factor_u as log_bayes_factor_u,
    log_bayes_factor_variance_ratio as log_bayes_factor_variance_ratio,
)
from evalframe.reporting.showing import show as show
from evalframe.resample.methods import (
    Bootstrap as Bootstrap,
    Jackknife as Jackknife,
    Linearized as Linearized,
)
from evalframe.sections.report import report as report
from evalframe.selective.areas import (
    augrc as augrc,
    augrc_at as augrc_at,
    augrc_normalised as augrc_normalised,
    aurc as aurc,
    aurc_at as aurc_at,
    aurc_normalised as aurc_normalised,
)
from evalframe.selective.calibration_error import (
    adaptive_calibration_error as adaptive_calibration_error,
    expected_calibration_error as expected_calibration_error,
    maximum_calibration_error as maximum_calibration_error,
    squared_calibration_error as squared_calibration_error,
)
from evalframe.selective.oracle import (
    achievable_gain_pct as achievable_gain_pct,
    augrc_gap_pct as augrc_gap_pct,
    augrc_optimal as augrc_optimal,
    aurc_achievable as aurc_achievable,
    aurc_gap_pct as aurc_gap_pct,
    aurc_optimal as aurc_optimal,
    eaugrc as eaugrc,
    eaurc as eaurc,
)
from evalframe.selective.screening import auroc as auroc
from evalframe.selective.score_error import (
    macro_mean_absolute_error as macro_mean_absolute_error,
    mean_absolute_error as mean_absolute_error,
    pearson_correlation as pearson_correlation,
    root_mean_squared_error as root_mean_squared_error,
)
from evalframe.selective.scoring import (
    brier_reliability as brier_reliability,
    brier_resolution as brier_resolution,
    brier_score as brier_score,
    brier_skill as brier_skill,
    brier_uncertainty as brier_uncertainty,
    mean_confidence as mean_confidence,
    negative_log_likelihood as negative_log_likelihood,
    overconfidence as overconfidence,
)
from evalframe.selective.screening import (
    accuracy as accuracy,
    f1_score as f1_score,
    false_negatives as false_negatives,
    false_positives as false_positives,
    precision as precision,
    recall as recall,
    true_negatives as true_negatives,
    true_positives as true_positives,
)
from evalframe.selective.total_score import severity_tier_accuracy as severity_tier_accuracy
from evalframe.selective.threshold_choice import (
    threshold_at_coverage as threshold_at_coverage,
    threshold_at_risk as threshold_at_risk,
)
from evalframe.selective.working_points import (
    achieved_coverage_at as achieved_coverage_at,
    coverage as coverage,
    coverage_at_risk as coverage_at_risk,
    generalized_risk as generalized_risk,
    risk_at as risk_at,
    selective_risk as selective_risk,
)
from evalframe.survey.scoring import (
    generation_rate as generation_rate,
    mean_score as mean_score,
    parse_rate as parse_rate,
)
from evalframe.survey.similarity.distances import (
    cosine_similarity as cosine_similarity,
    earth_mover_similarity as earth_mover_similarity,
)
from evalframe.survey.similarity.divergences import (
    jensen_shannon_similarity as jensen_shannon_similarity,
)

__all__: list[str]
__version__: str
from evalframe.standard.summaries import (
    at_least as at_least,
    deviation as deviation,
    mean as mean,
    mean_at_highest as mean_at_highest,
    mode as mode,
    pass_at as pass_at,
    quantile as quantile,
    share as share,
    spread as spread,
    total as total,
)
