//! Token and cost counters, and the exact rules for updating them.

/// Usage counters of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Usage {
    /// Tokens sent.
    pub input_tokens: i64,
    /// Tokens received.
    pub output_tokens: i64,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: i64,
    /// Tokens written to the provider's cache.
    pub cache_write_tokens: i64,
    /// Reasoning tokens.
    pub reasoning_tokens: i64,
    /// Calls to the model.
    pub api_call_count: i64,
    /// Cost by our price list; unknown until the first update.
    pub estimated_cost_usd: Option<f64>,
    /// Cost as billed.
    pub actual_cost_usd: Option<f64>,
    /// Reliability of the cost.
    pub cost_status: Option<String>,
    /// Origin of the cost.
    pub cost_source: Option<String>,
    /// The price list used.
    pub pricing_version: Option<String>,
    /// Provider that bills.
    pub billing_provider: Option<String>,
    /// Base URL of the provider.
    pub billing_base_url: Option<String>,
    /// Billing mode.
    pub billing_mode: Option<String>,
}

/// Whether the numbers of an update are added or replace the current ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UsageMode {
    /// Add to the counters.
    #[default]
    Add,
    /// Set the given counters; the others stay.
    Set,
}

/// An update of the counters. `None` leaves a value unchanged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UsageUpdate {
    /// Whether to add or to set.
    pub mode: UsageMode,
    /// Tokens sent.
    pub input_tokens: Option<i64>,
    /// Tokens received.
    pub output_tokens: Option<i64>,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: Option<i64>,
    /// Tokens written to the provider's cache.
    pub cache_write_tokens: Option<i64>,
    /// Reasoning tokens.
    pub reasoning_tokens: Option<i64>,
    /// Calls to the model.
    pub api_call_count: Option<i64>,
    /// Cost by our price list.
    pub estimated_cost_usd: Option<f64>,
    /// Cost as billed.
    pub actual_cost_usd: Option<f64>,
    /// Reliability of the cost.
    pub cost_status: Option<String>,
    /// Origin of the cost.
    pub cost_source: Option<String>,
    /// The price list used.
    pub pricing_version: Option<String>,
    /// Provider that bills; only the first one given is kept.
    pub billing_provider: Option<String>,
    /// Base URL of the provider; only the first one given is kept.
    pub billing_base_url: Option<String>,
    /// Billing mode; only the first one given is kept.
    pub billing_mode: Option<String>,
    /// The model; only the first one given is kept, and only if the session has none.
    pub model: Option<String>,
}

impl Usage {
    /// Returns the counters after `update`.
    ///
    /// Adding makes an unknown estimate a known one (0 if no cost is given); setting without a cost leaves it. Status,
    /// source and price list: the last given wins. Billing: the first given wins. Counters saturate at the limits of 64
    /// bits. Costs that are not finite are ignored.
    #[must_use]
    pub fn after(mut self, update: &UsageUpdate) -> Self {
        let mode = update.mode;
        let count = |have: &mut i64, given: Option<i64>| {
            if let Some(given) = given {
                *have = if mode == UsageMode::Add { have.saturating_add(given) } else { given };
            }
        };
        count(&mut self.input_tokens, update.input_tokens);
        count(&mut self.output_tokens, update.output_tokens);
        count(&mut self.cache_read_tokens, update.cache_read_tokens);
        count(&mut self.cache_write_tokens, update.cache_write_tokens);
        count(&mut self.reasoning_tokens, update.reasoning_tokens);
        count(&mut self.api_call_count, update.api_call_count);
        let cost = |have: Option<f64>, given: Option<f64>| match given.filter(|cost| cost.is_finite()) {
            Some(given) if mode == UsageMode::Add => Some(have.unwrap_or(0.0) + given),
            Some(given) => Some(given),
            None => have,
        };
        self.estimated_cost_usd = cost(self.estimated_cost_usd, update.estimated_cost_usd);
        if mode == UsageMode::Add {
            self.estimated_cost_usd.get_or_insert(0.0);
        }
        self.actual_cost_usd = cost(self.actual_cost_usd, update.actual_cost_usd);
        let newest = |have: &mut Option<String>, given: &Option<String>| {
            if given.is_some() {
                have.clone_from(given);
            }
        };
        newest(&mut self.cost_status, &update.cost_status);
        newest(&mut self.cost_source, &update.cost_source);
        newest(&mut self.pricing_version, &update.pricing_version);
        let first = |have: &mut Option<String>, given: &Option<String>| {
            if have.is_none() {
                have.clone_from(given);
            }
        };
        first(&mut self.billing_provider, &update.billing_provider);
        first(&mut self.billing_base_url, &update.billing_base_url);
        first(&mut self.billing_mode, &update.billing_mode);
        self
    }

    /// Returns the cost: as billed, or the estimate if nothing was billed.
    pub fn cost(&self) -> Option<f64> {
        self.actual_cost_usd.or(self.estimated_cost_usd)
    }

    /// Returns the sum with another session's counters. Texts are kept from `self`; unknown costs do not count.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        let both = |a: Option<f64>, b: Option<f64>| {
            if a.is_none() && b.is_none() { None } else { Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)) }
        };
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.api_call_count = self.api_call_count.saturating_add(other.api_call_count);
        self.estimated_cost_usd = both(self.estimated_cost_usd, other.estimated_cost_usd);
        self.actual_cost_usd = both(self.actual_cost_usd, other.actual_cost_usd);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(input: i64, cost: Option<f64>) -> UsageUpdate {
        UsageUpdate { input_tokens: Some(input), estimated_cost_usd: cost, ..UsageUpdate::default() }
    }

    #[test]
    fn what_was_billed_comes_before_the_estimate() {
        let usage = Usage { estimated_cost_usd: Some(2.0), ..Usage::default() };
        assert_eq!(usage.cost(), Some(2.0));
        assert_eq!(Usage { actual_cost_usd: Some(1.5), ..usage }.cost(), Some(1.5));
        assert_eq!(Usage::default().cost(), None);
    }

    #[test]
    fn adding_makes_the_estimate_known() {
        let usage = Usage::default().after(&add(3, None));
        assert_eq!((usage.input_tokens, usage.estimated_cost_usd, usage.actual_cost_usd), (3, Some(0.0), None));
        assert_eq!(usage.after(&add(-1, Some(0.5))).estimated_cost_usd, Some(0.5));
    }

    #[test]
    fn setting_touches_only_what_is_given() {
        let before = Usage { output_tokens: 7, estimated_cost_usd: Some(1.0), ..Usage::default() };
        let after = before.after(&UsageUpdate { mode: UsageMode::Set, ..add(3, None) });
        assert_eq!((after.input_tokens, after.output_tokens, after.estimated_cost_usd), (3, 7, Some(1.0)));
    }

    #[test]
    fn the_first_biller_and_the_newest_status_stay() {
        let update = |text: &str| UsageUpdate {
            billing_provider: Some(text.into()),
            cost_status: Some(text.into()),
            ..UsageUpdate::default()
        };
        let usage = Usage::default().after(&update("")).after(&update("two")).after(&UsageUpdate::default());
        assert_eq!((usage.billing_provider.as_deref(), usage.cost_status.as_deref()), (Some(""), Some("two")));
    }

    #[test]
    fn counters_neither_wrap_nor_take_nonsense() {
        let usage = Usage::default().after(&add(i64::MAX, Some(f64::NAN))).after(&add(1, Some(f64::INFINITY)));
        assert_eq!((usage.input_tokens, usage.estimated_cost_usd), (i64::MAX, Some(0.0)));
    }
}
