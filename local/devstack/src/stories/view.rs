//! Puts stories together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::call::Call;
use super::story::{Followed, Story, Sum, Summary, Work};
use super::{Inside, Node, Request, Stories, millis};

/// The most invocations that are told of as following one request.
const MOST_FOLLOWED: usize = 200;

impl Stories {
    /// The newest stories in short, the newest first.
    pub fn newest(&self, most: usize) -> Vec<Summary> {
        let inside = self.inside();
        let newest = inside.requests.iter().rev().take(most);
        newest.filter_map(|number| self.summary(&inside, *number, &inside.followed(*number))).collect()
    }

    /// The story of the request with this id.
    pub fn story(&self, id: &str) -> Option<Story> {
        let inside = self.inside();
        let is_it = |number: &&u64| inside.nodes[number].request.as_ref().is_some_and(|request| request.id == id);
        let number = *inside.requests.iter().rev().find(is_it)?;
        let following = inside.followed(number);
        let summary = self.summary(&inside, number, &following)?;
        let own = inside.nodes.get(&number)?;
        let reached: BTreeSet<u64> = following.keys().copied().chain([number]).collect();
        let followed = following.iter().filter_map(|(number, Following { depth, share })| {
            let node = inside.nodes.get(number)?;
            let is_of_story = |cause: &&String| inside.makers.get(*cause).is_some_and(|by| reached.contains(by));
            Some(Followed {
                function: node.function.clone(),
                at: format!("{:.3}", node.at),
                took_ms: node.took.map(millis),
                depth: *depth,
                causes: node.causes.iter().filter(is_of_story).cloned().collect(),
                of: node.causes.len(),
                share: *share,
                units: self.sum(node.read_units, node.write_units),
                work: work(node),
            })
        });
        Some(Story { summary, work: work(own), followed: followed.collect() })
    }

    fn summary(&self, inside: &Inside, number: u64, following: &BTreeMap<u64, Following>) -> Option<Summary> {
        let node = inside.nodes.get(&number)?;
        let Request { id, method, path, status } = node.request.as_ref()?;
        let refusals = node.calls.iter().flat_map(Call::refusals);
        let refused = refusals.map(|part| {
            let key = part.keys.first().map(|key| key.join(" ")).unwrap_or_default();
            format!("{key}: {}", part.condition.as_deref().unwrap_or_default())
        });
        let shares = following.iter().filter_map(|(number, following)| {
            let node = inside.nodes.get(number)?;
            Some((node.read_units * following.share, node.write_units * following.share))
        });
        let (read, write) = shares.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Some(Summary {
            id: id.clone(),
            at: format!("{:.3}", node.at),
            method: method.clone(),
            path: path.clone(),
            status: *status,
            function: node.function.clone(),
            took_ms: node.took.map(millis),
            call_count: node.calls.len() + node.calls_left_out,
            invocations: following.len(),
            refused: refused.collect(),
            units: self.sum(node.read_units, node.write_units),
            units_of_what_followed: self.sum(read, write),
        })
    }

    fn sum(&self, read: f64, write: f64) -> Sum {
        let usd_per_million = self.prices.map(|prices| read * prices.reads + write * prices.writes);
        Sum { read, write, usd_per_million }
    }
}

/// How an invocation follows from a request.
struct Following {
    depth: usize,
    share: f64,
}

impl Inside {
    /// What followed from this request, in the sequence in which it began.
    fn followed(&self, request: u64) -> BTreeMap<u64, Following> {
        let mut depths = BTreeMap::from([(request, 0)]);
        let mut waiting = VecDeque::from([request]);
        while let Some(number) = waiting.pop_front() {
            let depth = depths[&number] + 1;
            let made = self.nodes.get(&number).into_iter().flat_map(|node| &node.made);
            for next in made.filter_map(|made| self.handled.get(made)).flatten() {
                if depths.len() <= MOST_FOLLOWED && !depths.contains_key(next) {
                    depths.insert(*next, depth);
                    waiting.push_back(*next);
                }
            }
        }
        // An invocation begins after what caused it.
        let mut shares = BTreeMap::from([(request, 1.0)]);
        for number in depths.keys().filter(|number| **number != request) {
            let Some(node) = self.nodes.get(number) else { continue };
            let makers = node.causes.iter().filter_map(|cause| self.makers.get(cause));
            let own: f64 = makers.filter_map(|maker| shares.get(maker)).sum();
            #[expect(clippy::cast_precision_loss, reason = "an event has at most 10,000 records")]
            shares.insert(*number, own / node.causes.len().max(1) as f64);
        }
        let following = depths.into_iter().filter(|(number, _)| *number != request);
        following.map(|(number, depth)| (number, Following { depth, share: shares[&number] })).collect()
    }
}

fn work(node: &Node) -> Work {
    Work {
        environment: node.environment,
        error: node.error.clone(),
        calls: node.calls.clone(),
        calls_left_out: node.calls_left_out,
        records: node.records.clone(),
    }
}
