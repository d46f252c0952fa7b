//! The cost of a call, in the words that the agent stores.

use crate::Tokens;
use hermes_session::UsageUpdate;
use std::collections::BTreeMap;

/// Prices of a model in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// Tokens sent.
    pub input: f64,
    /// Tokens received.
    pub output: f64,
    /// Tokens read from the provider's cache; `None` for the price of tokens sent.
    pub cache_read: Option<f64>,
    /// Tokens written to the provider's cache; `None` for the price of tokens sent.
    pub cache_write: Option<f64>,
}

impl Prices {
    /// Returns the price of tokens in USD.
    pub fn of(&self, tokens: &Tokens) -> f64 {
        let part = |count: u64, price: f64| count as f64 * price / 1e6;
        part(tokens.input, self.input)
            + part(tokens.output, self.output)
            + part(tokens.cache_read, self.cache_read.unwrap_or(self.input))
            + part(tokens.cache_write, self.cache_write.unwrap_or(self.input))
    }
}

/// Origin of prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceSource {
    /// `model.prices` in the settings.
    Settings,
    /// The server's list of models.
    Server,
}

/// Prices by the name of the model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceTable(BTreeMap<String, (Prices, PriceSource)>);

impl PriceTable {
    /// Sets the prices of a model. Those of the settings win over those of the server.
    pub fn set(&mut self, model: impl Into<String>, prices: Prices, source: PriceSource) {
        let model = model.into();
        let is_kept = |(_, known): &(Prices, PriceSource)| *known == PriceSource::Settings && source != *known;
        if !self.0.get(&model).is_some_and(is_kept) {
            self.0.insert(model, (prices, source));
        }
    }

    /// Returns the prices of a model: by its whole name, else by the part after the last slash.
    pub fn find(&self, model: &str) -> Option<(Prices, PriceSource)> {
        let short = model.rsplit('/').next().unwrap_or(model);
        self.0.get(model).or_else(|| self.0.get(short)).copied()
    }
}

/// The cost of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Cost by the prices.
    pub estimated: Option<f64>,
    /// Cost as billed.
    pub actual: Option<f64>,
    /// `actual`, `estimated` or `unknown`, as stored in `cost_status`.
    pub status: &'static str,
    /// Origin, as stored in `cost_source`.
    pub source: &'static str,
}

/// Returns the cost of a call. A billed cost wins over one by prices; without either it is unknown.
pub fn cost(tokens: Option<&Tokens>, prices: Option<(Prices, PriceSource)>) -> Cost {
    let estimate = tokens.zip(prices).map(|(tokens, (prices, source))| (prices.of(tokens), source));
    let estimate = estimate.filter(|(cost, _)| cost.is_finite());
    let estimated = estimate.map(|(cost, _)| cost);
    let actual = tokens.and_then(|tokens| tokens.billed);
    let (status, source) = match (actual, estimate) {
        (Some(_), _) => ("actual", "provider_cost_api"),
        (None, Some((_, PriceSource::Settings))) => ("estimated", "user_override"),
        (None, Some((_, PriceSource::Server))) => ("estimated", "provider_models_api"),
        (None, None) => ("unknown", "none"),
    };
    Cost { estimated, actual, status, source }
}

/// Returns the update of a session's counters after one call.
pub fn usage_update(model: &str, billing: &Billing<'_>, tokens: Option<&Tokens>, cost: &Cost) -> UsageUpdate {
    let count = |count: fn(&Tokens) -> u64| tokens.map(|tokens| i64::try_from(count(tokens)).unwrap_or(i64::MAX));
    UsageUpdate {
        input_tokens: count(|tokens| tokens.input),
        output_tokens: count(|tokens| tokens.output),
        cache_read_tokens: count(|tokens| tokens.cache_read),
        cache_write_tokens: count(|tokens| tokens.cache_write),
        reasoning_tokens: count(|tokens| tokens.reasoning),
        api_call_count: Some(1),
        estimated_cost_usd: cost.estimated,
        actual_cost_usd: cost.actual,
        cost_status: Some(cost.status.to_owned()),
        cost_source: Some(cost.source.to_owned()),
        billing_provider: Some(billing.provider.to_owned()),
        billing_base_url: Some(billing.base_url.to_owned()),
        model: Some(model.to_owned()),
        ..UsageUpdate::default()
    }
}

/// The party that bills a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Billing<'a> {
    /// Name of the provider.
    pub provider: &'a str,
    /// Address of the provider.
    pub base_url: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: Prices = Prices { input: 2.0, output: 10.0, cache_read: Some(0.5), cache_write: None };
    const TOKENS: Tokens = Tokens {
        input: 500_000,
        output: 100_000,
        cache_read: 1_000_000,
        cache_write: 50_000,
        reasoning: 90_000,
        billed: None,
    };

    #[test]
    fn a_cost_has_its_status_and_source() {
        let of = |tokens, source: Option<PriceSource>| cost(tokens, source.map(|source| (PRICES, source)));
        let estimate = Some(1.0 + 1.0 + 0.5 + 0.1);
        let billed = Tokens { billed: Some(2.0), ..TOKENS };
        for (tokens, source, expect) in [
            (Some(&TOKENS), Some(PriceSource::Settings), (estimate, None, "estimated", "user_override")),
            (Some(&TOKENS), Some(PriceSource::Server), (estimate, None, "estimated", "provider_models_api")),
            (Some(&billed), Some(PriceSource::Server), (estimate, Some(2.0), "actual", "provider_cost_api")),
            (Some(&billed), None, (None, Some(2.0), "actual", "provider_cost_api")),
            (Some(&TOKENS), None, (None, None, "unknown", "none")),
            (None, Some(PriceSource::Settings), (None, None, "unknown", "none")),
        ] {
            let cost = of(tokens, source);
            assert_eq!((cost.estimated, cost.actual, cost.status, cost.source), expect);
        }
    }

    #[test]
    fn prices_are_found_by_name_and_settings_win() {
        let mut table = PriceTable::default();
        let cheap = Prices { input: 0.0, ..PRICES };
        table.set("gpt-x", cheap, PriceSource::Settings);
        table.set("gpt-x", PRICES, PriceSource::Server);
        assert_eq!(table.find("openai/gpt-x"), Some((cheap, PriceSource::Settings)));
        assert_eq!(table.find("gpt-y"), None);
    }

    #[test]
    fn a_call_is_one_update_of_the_counters() {
        let billing = Billing { provider: "openrouter", base_url: "https://openrouter.ai/api/v1" };
        let update = usage_update("m", &billing, Some(&TOKENS), &cost(Some(&TOKENS), None));
        assert_eq!((update.input_tokens, update.api_call_count), (Some(500_000), Some(1)));
        assert_eq!((update.cost_status.as_deref(), update.estimated_cost_usd), (Some("unknown"), None));
        assert_eq!(usage_update("m", &billing, None, &cost(None, None)).input_tokens, None);
    }
}
