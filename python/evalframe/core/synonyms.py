"""Other names of metrics, as the field abbreviates them and other packages spell them.

They are suggestions for messages, no aliases: one metric has one name.
"""

from __future__ import annotations

SYNONYMS = {
    name: known
    for known, names in {
        "accuracy": "acc accuracy_score",
        "adaptive_calibration_error": "ace",
        "aurc": "rc_auc area_under_risk_coverage",
        "auroc": "auc roc_auc roc_auc_score auc_roc aucroc",
        "bayes_factor_t": "bf bayes_factor",
        "brier_score": "brier brier_score_loss",
        "brier_skill": "bss brier_skill_score",
        "concordance_correlation": "ccc concordance lins_ccc",
        "cosine_similarity": "cosine cos_sim",
        "earth_mover_similarity": "emd wasserstein earth_mover",
        "eaugrc": "e_augrc excess_augrc",
        "eaurc": "e_aurc excess_aurc",
        "expected_calibration_error": "ece calibration_error",
        "f1_score": "f1 f_score fscore",
        "false_negatives": "fn",
        "false_positives": "fp",
        "jensen_shannon_similarity": "jsd js jensen_shannon js_divergence",
        "macro_mean_absolute_error": "macro_mae",
        "maximum_calibration_error": "mce",
        "mean_absolute_error": "mae",
        "negative_log_likelihood": "nll log_loss logloss cross_entropy bce",
        "pearson_correlation": "pearson pearsonr correlation corr",
        "precision": "ppv precision_score positive_predictive_value",
        "precision, with the negative class as positive=...": "npv negative_predictive_value",
        "recall": "tpr sensitivity recall_score hit_rate true_positive_rate",
        "recall, with the negative class as positive=...": "specificity tnr true_negative_rate",
        "root_mean_squared_error": "rmse",
        "root_mean_squared_error, the root of it": "mse mean_squared_error",
        "squared_calibration_error": "sce rmsce",
        "true_negatives": "tn",
        "true_positives": "tp",
    }.items()
    for name in names.split()
}
"""What to write instead, by the other name: a name, and perhaps what more it takes."""
