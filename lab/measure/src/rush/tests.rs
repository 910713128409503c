use super::crowd::Rush;
use super::shop::Plan;

/// The audit at the end of each rush checks that no unit is lost and no order is placed twice or at another price.
#[test]
fn no_order_and_no_unit_is_lost_in_a_rush() {
    for has_waiting_room in [false, true] {
        let plan = Plan { cells: 8, has_waiting_room, drains: 2 };
        let outcome = Rush { plan, rate: 300, seconds: 1 }.run().expect("the audit");
        assert_eq!(outcome.gave_up, 0, "{outcome:?}");
        assert!(outcome.reprice < 5.0 && outcome.restocks.iter().all(|took| *took < 5.0), "{outcome:?}");
    }
}
