"""Values are frozen and built by names: a cache may hold them, and no ε is taken for a δ."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil

import msgspec

import dpsco_verify

CHANGES = {
    # books that are kept while something goes on
    *("tape.GeneratorTape", "tape.AntitheticTape", "tape.RecordedTape", "one_pair._Done", "run.State"),
    *("checks.Checks", "paths._Recorder", "session.SessionAudits", "shares.Everyone", "shares.AuditedTest"),
    "pytest_plugin._State",
    # parts of a file on their way to their reader
    *("load._Pair", "earlier_report._Plot", "earlier_report._Claim", "earlier_report._Comparison"),
    "earlier_report._Record",
}
BY_POSITION = {
    # their fields have the order of a formula; private classes are built beside their definition
    *("run_spec.RunSpec", "tape.GeneratorTape", "records.Records"),
    *("orders.Aims", "regions.Candidate", "shares.AuditedTest"),
    *("e_process.EProcessDecision", "goodness_of_fit.FitDecision", "privacy_event_test.CellCounts"),
    *("calibration.Place", "curve.PrivacyCurve", "trade_off.TradeOff"),
    *("certified_minimum.CertifiedMinimum", "predictor_risk.PredictorRisk", "phased_erm.Phase"),
    *("objective_perturbation.Perturbation", "augmented.Regularised", "newton.Smoothed", "newton.State"),
    *("predictor_terms.PredictorTerms", "terms.Evaluation", "curves.Curve", "grid.Grid"),
    # (ε, δ) and (α, ε), a matrix and an offset, points and their weights, a size and a smaller one
    *("approximate.ApproximateDP", "asking.Claim", "budget.PrivacyBudget", "orders.Order", "renyi.RenyiDP"),
    *("distance_risk.DistanceRisk", "distance_risk.SmoothedDistanceRisk", "domain.Domain"),
    *("domain.Polyhedron", "lines.TradeOffLines", "smoothed_predictor_risk.SmoothedPredictorRisk"),
    *("support.Support", "events.SampledWithoutReplacement"),
    # what happened and its number or its words
    *("budget.Expense", "budget.Part", "one_pair.Progress", "plain.Raised", "session.Origin"),
}
COMPARES_ARRAYS = {
    # nobody asks whether two of them are equal, which raises where the arrays have more than one number
    *("algorithm.AlgorithmMechanism", "algorithm.SingleStepMechanism", "observation.ObservedRun"),
    *("observation.Seen", "ensemble.Ensemble", "mirror_descent.MirrorRun", "private_sgd.Transcript"),
    *("private_sgd.Run", "table.Table", "tape.RecordedTape", "grids.LossMasses", "result.CanaryAudit"),
    *("confirmation.Confirmation", "density.DensityAudit", "features._UserFeature", "features._OfAll"),
    *("likelihood_ratio._Columns", "likelihood_ratio._Linear", "marginals._OfNumbers", "marginals._Product"),
    *("marginals._Additive", "marginals._Chain", "records.Records", "region_search._Values"),
    *("request.AuditRequest", "selection._OnRaw", "wide._Scaled", "wide._Scored", "wide._Weighted"),
    *("wide._Residual", "descent.Problem", "run.State", "run.PlainRun", "plan.PlannedCanaries"),
    *("mean_tests.Observed", "neighbours.Group", "privacy_event_test._Design", "paths._Recorder"),
    *(
        "law.LatticeLaw",
        "narrowing.Placed",
        "plan._Window",
        "refinement.Potential",
        "curves.Curve",
        "grid.Grid",
    ),
}
EQUAL_TO_ITSELF = {
    # they hold functions, data sets of any kind, or what is equal to itself alone
    *("kinds.LossPlan", "kinds.Plan", "kinds.MirrorPlan", "many_runs.ManyRuns", "one_run.OneRun"),
    *("regions.Candidate", "result.Witness", "problems.ComparisonProblem", "bank.BankProblem"),
    *("exhibit.Exhibit", "canaries.CanaryExhibit", "risk.Instance", "risk_instances.Instance"),
    *("present.Results", "central_path.SmoothedProblem", "task.Task"),
}
OVERLOOKS = {
    # readers of what an earlier version or this one wrote, of which they need a part
    *(
        "earlier_report._Plot",
        "earlier_report._Claim",
        "earlier_report._Comparison",
        "earlier_report._Record",
    ),
    *("run_history._Sharpness", "run_history._Claim", "run_history._Record", "records_codec._Head"),
}


def classes():
    for found in pkgutil.walk_packages(dpsco_verify.__path__, "dpsco_verify."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            for value in vars(module).values():
                if inspect.isclass(value) and value.__module__ == module.__name__:
                    yield f"{module.__name__.rpartition('.')[2]}.{value.__name__}", value


CLASSES = list(classes())
DATACLASSES = [(name, kind) for name, kind in CLASSES if "__dataclass_params__" in vars(kind)]
STRUCTS = [(name, kind) for name, kind in CLASSES if issubclass(kind, msgspec.Struct)]


def test_only_books_change():
    changing = {name for name, kind in DATACLASSES if not kind.__dataclass_params__.frozen}
    changing |= {name for name, kind in STRUCTS if not kind.__struct_config__.frozen}
    assert changing == CHANGES
    assert len(DATACLASSES) > 300
    assert len(STRUCTS) > 100


def may_be_confused(kind):
    """Whether the fields of a class are many, or two of them take values of one type."""
    types = [str(field.type) for field in dataclasses.fields(kind)]
    types = ["number" if name in {"bool", "int", "float"} else name for name in types]
    return len(types) > 3 or len(set(types)) < len(types)


def test_a_public_class_of_many_or_of_like_fields_is_built_by_their_names():
    public = [(name, kind) for name, kind in DATACLASSES if "._" not in name and may_be_confused(kind)]
    by_position = {name for name, kind in public if not all(f.kw_only for f in dataclasses.fields(kind))}
    assert by_position == BY_POSITION
    assert len(public) > 200


def test_what_is_written_to_a_file_is_built_by_names():
    """Those of `OVERLOOKS` are built by the reader of the file alone, and so are a file of one part and a pair."""
    by_position = {
        name
        for name, kind in STRUCTS
        if any(each.kind is not each.KEYWORD_ONLY for each in inspect.signature(kind).parameters.values())
    }
    assert by_position == OVERLOOKS | {"config._File", "load._Pair"}


def test_a_class_with_arrays_is_equal_to_itself_alone():
    arrays = {
        name
        for name, kind in DATACLASSES
        if any("Array" in str(field.type) for field in dataclasses.fields(kind))
    }
    assert len(arrays) > len(COMPARES_ARRAYS) + 30
    equal_to_itself = {name for name, kind in DATACLASSES if not kind.__dataclass_params__.eq}
    assert equal_to_itself == arrays - COMPARES_ARRAYS | EQUAL_TO_ITSELF


def test_an_unknown_field_of_a_file_is_an_error():
    assert {name for name, kind in STRUCTS if not kind.__struct_config__.forbid_unknown_fields} == OVERLOOKS
