"""What `GradientBoostingClassifier` and `GradientBoostingRegressor` say of themselves."""

_DOC = """Gradient boosting of trees{purpose}.

    Round by round, trees grown in histograms of binned columns are fitted to the negative gradient of
    the loss (Friedman 2001) or to gradients and second derivatives (Chen, Guestrin 2016), and
    `learning_rate` of them is added. Missing values go to the side learned at each node; categories
    are split into two sets of levels, see `categorical`.

    Parameters
    ----------
    loss : {loss}{alpha}
    n_estimators : int, default 100
        Rounds at most.
    learning_rate : float, default 0.1
        Above 0. With `order=1`, `subsample=1` and a rate of at most 1 the training loss never rises{rises}.
    growth : "leaf", "depth" or "oblivious", default "leaf"
        Split first where the gain is largest; level by level; or level by level with one question for all
        nodes of a level, the one with the largest sum of gains (as in CatBoost). A node that this question
        would leave with too few rows stays a leaf; a level that would exceed `max_leaf_nodes` is not begun.
    max_leaf_nodes : int or None, default 31
    max_depth : int or None, default None
    min_samples_leaf : int, default 20
        Rows in a leaf at least; counted, not weighted.
    max_bins : int from 2 to 65535, default 255
        Bins of a number. A column of at most this many distinct values is split exactly; else
        thresholds are chosen so that about equally many of all rows lie between them. Thresholds
        are midpoints of adjacent distinct values of the whole column. A category keeps all levels.
    order : 1 or 2, default 1
        1: trees are least-squares fits to the negative gradient, with steps as `leaf_update` says.
        2: splits and leaf values -G / (H + `reg_lambda`) from gradients and second derivatives{order}.
    leaf_update : "per_leaf" or "per_tree", default "per_leaf"
        For `order=1` only. Each leaf takes the step that minimises the loss of its rows{leaf_steps}; or
        leaves answer their mean negative gradient and a line search finds one step for all trees of the
        round, see `steps_`. Steps that would go on without end are bounded.
    reg_lambda, reg_alpha, gamma, min_child_weight : float, default 0
        For `order=2` only, as in XGBoost: leaves answer -T(G) / (H + `reg_lambda`), T taking `reg_alpha` off
        the size of G; a split's gain, T(G)^2 / (H + `reg_lambda`) of both sides less the node's, must exceed
        `gamma` (Chen and Guestrin's equation 7 is half of that); H is at least `min_child_weight` in a leaf.
    subsample : float, default 1
        Share of the rows that each round is grown on, at least one row (Friedman 2002).
    colsample_bytree : float, default 1
        Share of the columns that each tree may split by, rounded down, at least one.
    max_features : int, float, "sqrt", "log2" or None, default None
        Of these, columns drawn at each node; drawing goes on while all drawn are constant there.
    monotonic_cst : sequence, mapping or None, default None
        Of every column, or of columns by name: 1 where the raw prediction may only rise with it, -1 where it
        may only fall, 0 where it is free. For numbers and two classes; see `DecisionTreeRegressor`. A
        first-order round whose bounded leaves would raise the training loss is halved until it does not.
    init : "constant", "zero", "first_tree" or estimator, default "constant"
        What the rounds begin with: the constant that minimises the loss; zero; the constant and a tree, grown
        as in a round, that counts in full; or the answers of another model. A copy of that is trained on the
        encoded table (codes of levels, NaN where missing) and on class indices.
    warm_start : bool, default False
        Another `fit` adds rounds to those there are, up to `n_estimators`: on the same rows, and with the
        other parameters as they were, to the last bit as if trained in one go.
    early_stopping : bool, default False
        End after `n_iter_no_change` rounds without a better validation loss (or score, see `scoring`) and
        keep the rounds up to the best one.
    scoring : {scoring} or callable, default "loss"
        What has to get better on the validation rows; a callable is a scorer of scikit-learn's kind,
        ``scorer(estimator, X, y)``, and is given the encoded table.
    validation_fraction : float, default 0.1
        Share of the rows set aside for early stopping where `fit` is given no `X_val`.
    n_iter_no_change : int, default 10
    tol : float, default 0
        The validation loss must fall, or the score rise, by more than this to count as better.
    categorical_features : "from_dtype", None or sequence, default "from_dtype"
        See `engine.features.learn_features`.
    categorical : "partition" or "ordered", default "partition"
        How two sets of levels are found. "partition": at each node, in the order of their mean gradients.
        "ordered": in the order of their {level_means}, and the trees are
        grown on ordered target statistics, in which a row is told the mean of only those rows of its level
        that stand before it in a random order (Prokhorenkova et al. 2018): rare levels are not learned by
        heart. Missing counts as a level; unseen levels follow it or, where no training row misses the
        column, go where the first rows of levels went. Columns of two kinds of rows, which have one
        question, are split as by "partition".
    n_jobs : int or None, default None
        Threads; the model has the same bits for any number.
    random_state : None, int or generator
        For `subsample`, `colsample_bytree`, `max_features`, `validation_fraction` and the order of rows of
        `categorical="ordered"`; other learners draw by seeds made from it, whatever their own
        `random_state` says.
    estimator : estimator or None, default None
        What is fitted in place of the trees: any regressor with fit, predict, get_params and set_params. A
        clone is fitted to the negative gradient of each raw prediction, with the rows' weights, and a line
        search finds one step for the round (Friedman 2001, algorithm 1), see `steps_`. It is given a frame as
        it came, else the encoded table. Settings of the trees must then be left as they are, and
        ``init="first_tree"`` too; a learner that takes no weights refuses them. A stop is answered once the
        learner under way is fitted, or sooner where its `fit` takes a `monitor`.

    Attributes
    ----------
    estimators_ : list of tuple of Tree, or of `engine.boosting.any_learner.ScaledLearner`
        The rounds kept; one tree each{per_class}. Values include the learning rate. Other learners are kept
        with the scale of their answers, the step times the learning rate.
    n_estimators_ : int
        Rounds kept.
    best_round_ : int
        Round of the smallest validation loss, or of the best score, counted from 1, the first of equals;
        without validation rows the last round.
    baseline_prediction_ : float64 (n_raw,)
        The raw prediction before any tree: the constant that minimises the loss.
    train_loss_, val_loss_ : float64 (n_rounds + 1,)
        Mean {loss_words}, entry 0 before any tree; of the rounds kept. `val_loss_` is empty without
        validation rows. With `categorical="ordered"` training rows count by what they are told, as they did
        for the trees (whose counts and gains are those of growing); what `predict` answers for them rests
        on the means of all rows and has another loss.
    val_score_ : float64 (n_rounds + 1,) or (0,)
        What `scoring` told of the validation rows, errors and losses with a minus.
    init_ : tuple of Tree, or estimator
        The first trees, or the other model; empty where the rounds begin with `baseline_prediction_`.
    stopped_ : bool
        A monitor ended the fit early.
    feature_importances_ : float64 (n_features,)
        Each column's share of the sum of all gains. The importances of other learners count by how far the
        training loss fell in their round; only where all of them have importances.
    steps_ : float64 (n_estimators_,)
        Step of every round's line search; 1 but with `leaf_update="per_tree"` or an `estimator`.
    seed_ : int
    """

REGRESSOR_DOC = _DOC.format(
    purpose=" for a numeric target",
    scoring='"loss", "r2", "rmse", "mae"',
    loss="""one of the following, default "squared_error"
        "squared_error"; "absolute_error", robust, predicts medians; "huber", squares up to the
        `alpha`-quantile of the absolute residuals and absolute errors beyond; "quantile" predicts the
        `alpha`-quantile; "poisson", for counts, with predictions exp(raw prediction).""",
    alpha="\n    alpha : float, default 0.9\n        Of huber and quantile.",
    rises=", but for huber",
    order="; for\n        squared error and poisson",
    leaf_steps=" (for huber\n        Friedman's approximation)",
    per_class="",
    level_means="mean targets",
    loss_words="loss (squared error and Poisson deviance: half of it)",
)

CLASSIFIER_DOC = _DOC.format(
    purpose=" for classes",
    scoring='"loss", "accuracy", "auc", "log_loss"',
    loss=""""log_loss" or "exponential", default "log_loss"
        Exponential, AdaBoost's, knows two classes.""",
    alpha="",
    rises="",
    order="",
    leaf_steps=""" (for log
        loss one Newton step, halved until the leaf's, or with more than two classes the round's, loss does
        not rise)""",
    per_class=", with more than two classes one for each class",
    level_means="shares of the second class, of more than two of the tree's own",
    loss_words="loss",
)
