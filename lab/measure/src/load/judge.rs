//! Judges answers: whether they are expected, and their effect on the stock.

use http_api::Kind as Problem;

use super::shop::{Reply, Silence};
use super::traffic::{Ask, Kind};

/// An answer, judged.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// `201`, `409 out-of-stock`.
    pub(crate) answer: String,
    /// Whether a healthy shop may give this answer.
    pub(crate) is_expected: bool,
    pub(crate) effect: Effect,
}

/// The effect of a request on the stock.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Nothing,
    /// The order took its units.
    Placed {
        id: String,
    },
    /// The order returned its units.
    Cancelled,
    /// The effect is unknown.
    Unknown,
}

/// Judges the answer to a request.
pub(crate) fn judge(ask: &Ask, reply: Result<Reply, Silence>) -> Judgement {
    let changes_stock = matches!(ask.kind(), Kind::PlaceOrder | Kind::CancelOrder);
    let unknown = if changes_stock { Effect::Unknown } else { Effect::Nothing };
    let Reply { status, problem, order_id, replayed } = match reply {
        Ok(reply) => reply,
        Err(silence) => {
            return Judgement { answer: silence.name().to_owned(), is_expected: false, effect: unknown };
        }
    };

    let effect = match (ask.kind(), status, &order_id) {
        (Kind::PlaceOrder, 201, Some(id)) => Effect::Placed { id: id.clone() },
        (Kind::CancelOrder, 200, _) => Effect::Cancelled,
        // A queued order is placed later, or never.
        (_, 202 | 500.., _) => unknown,
        _ => Effect::Nothing,
    };
    let is_expected = match (ask, status) {
        (Ask::PlaceOrder(_), 201) => order_id.is_some() && !replayed,
        (Ask::RepeatOrder(placed), 201) => order_id.as_ref() == Some(&placed.id) && replayed,
        // Another shopper was faster, or the customer must pay first, which nobody does here. These orders can lack
        // nothing else.
        (Ask::PlaceOrder(_), 409) => {
            [Problem::OutOfStock, Problem::OpenUnits].iter().any(|refusal| problem.as_deref() == Some(refusal.slug()))
        }
        // Queued for lack of capacity.
        (Ask::PlaceOrder(_), 202) | (Ask::ViewProduct(_), 204) => true,
        (Ask::PlaceOrder(_) | Ask::RepeatOrder(_) | Ask::ViewProduct(_), _) => false,
        (_, status) => status == 200,
    };
    let mut answer = status.to_string();
    if let Some(problem) = problem {
        answer = format!("{answer} {problem}");
    } else if replayed {
        answer.push_str(" replayed");
    } else if status == 202 {
        answer.push_str(" queued");
    }
    Judgement { answer, is_expected, effect }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::load::traffic::{Line, Order, Placed};

    fn place() -> Ask {
        Ask::PlaceOrder(order())
    }

    fn order() -> Arc<Order> {
        Arc::new(Order { customer: 0, key: "k".to_owned(), lines: vec![Line { product: 0, quantity: 1 }] })
    }

    fn placed() -> Placed {
        Placed { id: "o".to_owned(), order: order() }
    }

    fn reply(status: u16) -> Reply {
        Reply { status, ..Reply::default() }
    }

    fn whole(status: u16, order: &str, replayed: bool) -> Reply {
        Reply { order_id: Some(order.to_owned()), replayed, ..reply(status) }
    }

    fn refused(status: u16, problem: &str) -> Reply {
        Reply { problem: Some(problem.to_owned()), ..reply(status) }
    }

    #[test]
    fn a_placed_order_is_expected_and_takes_its_units() {
        let judgement = judge(&place(), Ok(whole(201, "o", false)));
        let effect = Effect::Placed { id: "o".to_owned() };
        assert_eq!(judgement, Judgement { answer: "201".to_owned(), is_expected: true, effect });
    }

    #[test]
    fn an_order_may_be_refused_for_want_of_stock_or_payment_and_for_nothing_else() {
        const ALLOWED: [Problem; 2] = [Problem::OutOfStock, Problem::OpenUnits];
        let others = Problem::ALL.iter().filter(|problem| !ALLOWED.contains(problem));
        let others = others.map(|problem| refused(problem.status().as_u16(), problem.slug()));
        for refusal in others.chain([reply(409)]) {
            assert!(!judge(&place(), Ok(refusal.clone())).is_expected, "{refusal:?}");
        }
        for problem in ALLOWED.map(Problem::slug) {
            let judgement = judge(&place(), Ok(refused(409, problem)));
            let answer = format!("409 {problem}");
            assert_eq!(judgement, Judgement { answer, is_expected: true, effect: Effect::Nothing });
        }
    }

    #[test]
    fn a_queued_or_unanswered_order_has_an_unknown_effect() {
        let queued = judge(&place(), Ok(whole(202, "o", false)));
        assert_eq!((queued.is_expected, queued.effect), (true, Effect::Unknown));
        for lost in [judge(&place(), Ok(refused(503, "throttled"))), judge(&place(), Err(Silence::CutOff))] {
            assert_eq!((lost.is_expected, lost.effect), (false, Effect::Unknown));
        }
    }

    #[test]
    fn an_order_sent_again_is_answered_with_the_same_order_and_says_so() {
        let again = |reply| judge(&Ask::RepeatOrder(placed()), Ok(reply));
        assert!(again(whole(201, "o", true)).is_expected);
        for wrong in [whole(201, "o", false), whole(201, "other", true), reply(409)] {
            let judgement = again(wrong);
            assert_eq!((judgement.is_expected, judgement.effect), (false, Effect::Nothing));
        }
    }

    #[test]
    fn a_new_order_that_was_there_before_is_an_error() {
        assert!(!judge(&place(), Ok(whole(201, "o", true))).is_expected);
    }

    #[test]
    fn a_cancelled_order_gives_its_units_back() {
        let judgement = judge(&Ask::CancelOrder(placed()), Ok(reply(200)));
        assert_eq!((judgement.is_expected, judgement.effect), (true, Effect::Cancelled));
        let judgement = judge(&Ask::CancelOrder(placed()), Ok(refused(409, "invalid-transition")));
        assert_eq!((judgement.is_expected, judgement.effect), (false, Effect::Nothing));
    }

    #[test]
    fn only_a_success_is_an_expected_answer_to_a_read() {
        for ask in [Ask::ReadProduct(0), Ask::ReadOrder(placed()), Ask::ListOrders { customer: 0 }] {
            assert!(judge(&ask, Ok(reply(200))).is_expected);
            for status in [404, 401, 429, 500] {
                assert!(!judge(&ask, Ok(reply(status))).is_expected, "{status}");
            }
        }
    }
}
