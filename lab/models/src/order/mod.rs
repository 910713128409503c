//! A model of the lifecycle of orders, with duplicates, partial and late requests.
//!
//! A [`Shop`] has initial data and actors. The actors are requests and messages, which decide with
//! [`ordering::PlacingAttempt`], and changes of an order, which decide with [`ordering::changing::Changing`]. This module
//! only defines the events between their steps.

mod actor;
mod books;
mod bugs;
mod invariants;
mod seed;
mod shops;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ordering::OrderRequest;
use stateright::{Model, Property};
use table::Commit;

pub use self::actor::{Actor, Answer, Phase, Role};
use self::actor::{Effect, Event};
use self::books::Books;
pub use self::bugs::Bug;
pub use self::invariants::Sight;
use self::invariants::{PLACED, REFUSED};
pub use self::shops::{large, small};
use crate::table::{Digested, Seen, Stored, Table, Transaction};

/// A small shop, and its possible events.
pub struct Shop {
    /// A name for reports.
    pub name: &'static str,
    pub(crate) requests: Vec<&'static OrderRequest>,
    /// The initial actors.
    pub(crate) roles: Vec<Role>,
    pub(crate) table: Table,
    /// The number of possible faults of each kind.
    pub(crate) left: Left,
    /// Situations that must occur in some state.
    pub(crate) sights: &'static [Sight],
    /// A planted bug that the invariants must find.
    pub(crate) bug: Option<Bug>,
    /// A cache of the next state of an actor that reads these items.
    memo: Memo,
}

type Memo = Mutex<HashMap<(u64, Vec<u64>), Digested<Actor>>>;

/// The remaining faults of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Left {
    /// A transaction is committed, and its answer is lost.
    pub lost: u8,
    /// A transaction is not answered, and takes effect later or never.
    pub late: u8,
    /// DynamoDB has no capacity for a transaction.
    pub throttles: u8,
    /// An actor stops: a crash, a timeout, or conflicts for too long.
    pub stops: u8,
    pub deliveries: u8,
}

/// A state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) table: Table,
    pub(crate) actors: Vec<(Digested<Actor>, Option<Arc<Seen>>)>,
    /// Each message, and its remaining deliveries.
    pub(crate) messages: Vec<(Digested<Role>, u8)>,
    /// Unanswered transactions that may still take effect, each with the actor whose order it places or changes.
    pub(crate) late: Vec<(Option<usize>, Digested<Transaction>)>,
    /// The actors whose transaction has placed or changed their order, as bits.
    committed: u32,
    /// The actors for which there were too few units at some time since they began, as bits.
    scarce: u32,
    pub(crate) left: Left,
}

/// A possible next event. Numbers are positions in the lists of [`State`].
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An actor's read gets one of the possible answers.
    Read {
        actor: usize,
        choice: usize,
    },
    /// An actor's request takes effect and is answered.
    Do(usize),
    /// An actor's request takes effect, and the answer is lost.
    Lose(usize),
    /// An actor's request is not answered, and may take effect later.
    Delay(usize),
    /// DynamoDB has no capacity for an actor's request.
    Throttle(usize),
    Stop(usize),
    /// A delayed transaction takes effect.
    Arrive(usize),
    /// A message is delivered.
    Deliver(usize),
}

impl Model for Shop {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut state = State {
            table: self.table.clone(),
            actors: Vec::new(),
            messages: Vec::new(),
            late: Vec::new(),
            committed: 0,
            scarce: 0,
            left: self.left.clone(),
        };
        for role in &self.roles {
            self.enter(&mut state, role.clone());
        }
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (at, (actor, seen)) in state.actors.iter().enumerate() {
            if state.left.stops > 0 && !actor.is_done() && actor.role.may_stop() {
                actions.push(Action::Stop(at));
            }
            if let Some(seen) = seen {
                actions.extend((0..seen.choices()).map(|choice| Action::Read { actor: at, choice }));
                continue;
            }
            if actor.is_done() {
                continue;
            }
            actions.push(Action::Do(at));
            if actor.may_fail() {
                let Left { lost, late, throttles, .. } = state.left;
                let faults = [(lost, Action::Lose(at)), (late, Action::Delay(at)), (throttles, Action::Throttle(at))];
                actions.extend(faults.into_iter().filter(|(left, _)| *left > 0).map(|(_, action)| action));
            }
        }
        actions.extend((0..state.late.len()).map(Action::Arrive));
        let waiting = state.messages.iter().enumerate().filter(|(_, (_, left))| *left > 0);
        actions.extend(waiting.map(|(at, _)| Action::Deliver(at)));
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Read { actor, choice } => {
                let items = state.actors[actor].1.take()?.answer(choice);
                let after = self.read(&state.actors[actor].0, items);
                self.become_(&mut state, actor, after, None);
            }
            Action::Do(at) => {
                let actor = state.actors[at].0.clone();
                let event = self.perform(&mut state, &actor);
                if actor.commits() && matches!(event, Event::Committed(Commit::Done)) {
                    state.committed |= 1 << at;
                }
                self.tell(&mut state, at, event);
            }
            Action::Lose(at) => {
                state.left.lost -= 1;
                let transaction = state.actors[at].0.transaction()?.clone();
                self.commit(&mut state, &transaction).ok()?;
                state.committed |= u32::from(state.actors[at].0.commits()) << at;
                self.tell(&mut state, at, Event::Unanswered);
            }
            Action::Delay(at) => {
                state.left.late -= 1;
                let actor = &state.actors[at].0;
                let sender = actor.commits().then_some(at);
                state.late.push((sender, actor.transaction()?.clone()));
                self.tell(&mut state, at, Event::Unanswered);
            }
            Action::Throttle(at) => {
                state.left.throttles -= 1;
                self.tell(&mut state, at, Event::NoCapacity);
            }
            Action::Stop(at) => {
                state.left.stops -= 1;
                self.tell(&mut state, at, Event::Stopped);
            }
            Action::Arrive(at) => {
                let (sender, transaction) = state.late.remove(at);
                // If a condition does not hold any more, the transaction has no effect.
                if self.commit(&mut state, &transaction).is_ok()
                    && let Some(sender) = sender
                {
                    state.committed |= 1 << sender;
                }
            }
            Action::Deliver(at) => {
                let (role, left) = &mut state.messages[at];
                *left -= 1;
                let role = Role::clone(role);
                self.enter(&mut state, role);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        invariants::all(self)
    }
}

impl Shop {
    /// A shop with this initial table.
    pub(crate) fn new(
        name: &'static str,
        table: Table,
        requests: Vec<OrderRequest>,
        roles: Vec<Role>,
        left: Left,
    ) -> Self {
        // Leaked on purpose: the actors of every state refer to them.
        let requests = requests.into_iter().map(|request| &*Box::leak(Box::new(request))).collect();
        let sights = &[PLACED, REFUSED];
        Self { name, requests, roles, table, left, sights, bug: None, memo: Memo::default() }
    }

    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Adds situations that must occur.
    pub(crate) fn seeing(self, sights: &'static [Sight]) -> Self {
        Self { sights, ..self }
    }

    /// Adds a placed order to the initial table.
    pub(crate) fn having_placed(mut self, request: usize) -> Self {
        let roles = std::mem::replace(&mut self.roles, vec![Role::Request { request }]);
        let mut state = self.init_states().remove(0);
        while !state.actors[0].0.is_done() {
            let is_reading = state.actors[0].1.is_some();
            let next = if is_reading { Action::Read { actor: 0, choice: 0 } } else { Action::Do(0) };
            state = self.next_state(&state, next).expect("a step");
        }
        Self { table: state.table, roles, ..self }
    }

    /// Plants a known bug.
    #[must_use]
    pub fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    fn enter(&self, state: &mut State, role: Role) {
        // Requests have different clocks. For other actors the clock does not matter.
        let clock =
            if role.orders() { actor::after(i64::try_from(state.actors.len()).expect("few")) } else { actor::now() };
        let actor = Digested::new(Actor::enter(role, self, clock));
        let seen = self.begin(&state.table, &actor);
        state.actors.push((actor, seen));
        self.look_for_scarcity(state);
    }

    fn become_(&self, state: &mut State, at: usize, actor: Digested<Actor>, effect: Option<Effect>) {
        if let Some(Effect::Send(message)) = effect {
            state.messages.push((Digested::new(message), self.left.deliveries));
        }
        let seen = self.begin(&state.table, &actor);
        state.actors[at] = (actor, seen);
    }

    /// The next state of an actor that has read these items. It is cached, because it is always the same.
    fn read(&self, actor: &Digested<Actor>, items: Vec<Stored>) -> Digested<Actor> {
        let key = (actor.digest(), items.iter().map(Digested::digest).collect());
        let memo = || self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = memo().get(&key) {
            return known.clone();
        }
        let (after, _) = actor.told(self, Event::Read(items));
        let after = Digested::new(after);
        memo().insert(key, after.clone());
        after
    }

    fn tell(&self, state: &mut State, at: usize, event: Event) {
        let (actor, effect) = state.actors[at].0.told(self, event);
        self.become_(state, at, Digested::new(actor), effect);
    }

    /// Executes an actor's request.
    fn perform(&self, state: &mut State, actor: &Actor) -> Event {
        match (actor.transaction(), actor.reads_at_once()) {
            (Some(transaction), _) => Event::Committed(match self.commit(state, transaction) {
                Ok(()) => Commit::Done,
                Err(causes) => Commit::Cancelled(causes),
            }),
            (None, Some(places)) => {
                Event::Read(places.iter().filter_map(|place| state.table.get(place).cloned()).collect())
            }
            (None, None) => Event::Sent,
        }
    }

    fn commit(&self, state: &mut State, transaction: &Transaction) -> Result<(), Vec<table::Cause>> {
        if let Some((first, rest)) = self.bug.and_then(|bug| bug.apart(transaction)) {
            self.commit_whole(state, &first)?;
            return self.commit_whole(state, &rest);
        }
        self.commit_whole(state, transaction)
    }

    fn commit_whole(&self, state: &mut State, transaction: &Transaction) -> Result<(), Vec<table::Cause>> {
        let written = match self.bug.and_then(Bug::condition) {
            Some(is_meant) => state.table.commit(&transaction.without_condition(is_meant)),
            None => state.table.commit(transaction),
        }?;
        for (_, seen) in &mut state.actors {
            if let Some(more) = seen.as_ref().and_then(|seen| seen.with(&state.table, &written)) {
                *seen = Some(Arc::new(more));
            }
        }
        self.look_for_scarcity(state);
        Ok(())
    }

    fn look_for_scarcity(&self, state: &mut State) {
        let in_stock = Books::of(&state.table).in_stock;
        for (at, (actor, _)) in state.actors.iter().enumerate() {
            let wanted = self.requests[actor.role.request()].basket.order().lines[0].quantity.get();
            if actor.role.orders() && !actor.is_done() && in_stock < wanted.into() {
                state.scarce |= 1 << at;
            }
        }
    }

    /// The read that the actor begins, if it reads.
    fn begin(&self, table: &Table, actor: &Actor) -> Option<Arc<Seen>> {
        actor.begins_to_read(self, table).map(Arc::new)
    }
}

impl State {
    /// Whether there were too few units for this actor at some time since it began.
    fn has_met_scarcity(&self, actor: usize) -> bool {
        self.scarce & (1 << actor) != 0
    }

    /// Whether the transaction of this actor has placed or changed its order.
    fn has_committed(&self, actor: usize) -> bool {
        self.committed & (1 << actor) != 0
    }
}
