//! The final of a race.

use writebench_stats::{Rounds, Verdict};

use super::*;

impl Race {
    /// The largest size for which the remaining limits pay for six rounds with the fewest finalists.
    pub(super) fn final_size(&self, posterior: &Posterior, spent: Spent) -> usize {
        let sizes = self.limits.final_bytes.len();
        (0..sizes)
            .find(|&size| self.paid(size, CHECKED, posterior, spent) >= LEAST_FINALISTS)
            .unwrap_or(sizes - 1)
    }

    /// The finalists of that size for whose six rounds the remaining limits pay, after so many checks.
    fn paid(&self, size: usize, checks: usize, posterior: &Posterior, spent: Spent) -> usize {
        let left_s = TIME_RESERVE * self.limits.budget.saturating_sub(spent.elapsed).as_secs_f64();
        let left_bytes = as_f64(self.limits.max_bytes.saturating_sub(spent.bytes));
        let bytes = self.limits.final_bytes[size].max(1);
        let sample_s = self.costs.sample_s(bytes).max(1e-9);
        let left_s = left_s - sample_s * as_f64(checks as u64);
        let rounds = as_f64(PLANNED_ROUNDS as u64);
        let of_time = left_s / rounds / sample_s - posterior.times(self.baseline);
        let of_bytes = (left_bytes / rounds / as_f64(bytes) - 1.0) / as_f64(self.limits.times_written.max(1));
        floor(of_time.min(of_bytes))
    }

    pub(super) fn enter_finals(&mut self, posterior: &Posterior, taken: &[Vec<SampleSummary>], spent: Spent) {
        let most = self.paid(self.size, 0, posterior, spent).clamp(LEAST_FINALISTS, FINALISTS);
        let mut chosen = self.finalists(most, posterior, taken);
        if self.able(taken).contains(&self.baseline) {
            chosen.push(self.baseline);
        }
        // Clones have no part in the check.
        chosen.extend((0..self.candidates.len()).filter(|&index| self.candidates[index].is_clone));
        let is_checked = |&index: &usize| !taken[self.case_on(self.real(), index)].is_empty();
        self.rounds = if chosen.iter().all(is_checked) { 2 } else { 1 };
        self.want(Stage::Final, chosen, taken);
        self.is_over = self.batch.is_empty();
    }

    pub(super) fn end_final_round(&mut self, taken: &[Vec<SampleSummary>], spent: Spent) {
        let (clones, alive): (Vec<usize>, Vec<usize>) =
            self.batch.iter().map(|(index, _)| *index).partition(|&index| self.candidates[index].is_clone);
        let rounds = self.rounds_of_final(taken);
        let time = |&candidate: &usize| Some((rounds.value(candidate)?, candidate));
        let Some((_, leader)) = alive.iter().filter_map(time).min_by(|a, b| a.0.total_cmp(&b.0)) else {
            self.is_over = true;
            return;
        };
        let to_leader = |candidate| rounds.ratio(candidate, (&rounds, leader));
        let stays = |&candidate: &usize| {
            [self.baseline, leader].contains(&candidate) || !is_clear_loss(to_leader(candidate))
        };
        let kept: Vec<usize> = alive.iter().copied().filter(stays).collect();
        // The answer depends on the leader's ratio to the baseline, and on the candidates that are as fast as
        // the leader.
        let is_open =
            |&candidate: &usize| candidate != leader && verdict(to_leader(candidate)) == Verdict::Inconclusive;
        // A final with smaller files than were asked for uses the time that is left.
        let is_smaller = self.size > 0 && kept.len() > 1;
        let is_decided = self.rounds >= ROUNDS && !kept.iter().any(is_open);
        // The scouts may have made samples seem dear, so that few candidates were screened. When the last rival is
        // gone, or none is faster than the baseline, others get their chance, as long as there is time for them and
        // another final.
        let has_gained = is_clear_loss(to_leader(self.baseline));
        let was_short = self.resumed_at.is_none()
            && spent.elapsed < self.limits.budget.mul_f64(SCREENING_SHARE)
            && self.rivals().count() > alive.len();
        if kept == [self.baseline] && alive != kept || is_decided && !has_gained && was_short {
            self.resumed_at = Some(spent);
            if self.left(self.real(), spent) >= LEAST_BATCH {
                self.screen(0, taken, spent);
                return;
            }
        }
        let round_bytes = self.round_bytes(kept.len());
        let is_paid = spent.bytes.saturating_add(round_bytes) <= self.limits.max_bytes;
        self.is_over = is_decided && !is_smaller || self.rounds >= MOST_ROUNDS || !is_paid;
        self.rounds += 1;
        self.want(Stage::Final, [kept, clones].concat(), taken);
    }

    /// The most bytes that a round of the final writes: the baseline fills no file with zeros first.
    fn round_bytes(&self, finalists: usize) -> u64 {
        let files = (finalists as u64).saturating_sub(1).saturating_mul(self.limits.times_written.max(1)) + 1;
        files.saturating_mul(self.limits.final_bytes[self.size])
    }

    /// The model of all samples at the size of the final, by candidate. Copies that share blocks are no rivals.
    fn rounds_of_final(&self, taken: &[Vec<SampleSummary>]) -> Rounds {
        let times = |index: usize| match self.candidates[index].is_clone {
            true => Vec::new(),
            false => by_round(&taken[self.case_on(self.real(), index)]),
        };
        Rounds::fit(&(0..self.candidates.len()).map(times).collect::<Vec<_>>())
    }
}
