//! Tokens and cost.

use schemars::JsonSchema;
use serde::Serialize;

/// Token counters.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Tokens {
    /// Tokens sent to the model.
    pub input_tokens: i64,
    /// Tokens received from it.
    pub output_tokens: i64,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: i64,
    /// Tokens written to the provider's cache.
    pub cache_write_tokens: i64,
    /// Tokens of reasoning.
    pub reasoning_tokens: i64,
    /// Calls to the model.
    pub api_call_count: i64,
}

/// Token counters, cost and billing.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Usage<'a> {
    /// The token counters.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Cost in US dollars by a price list.
    pub estimated_cost_usd: Option<f64>,
    /// Cost in US dollars as billed.
    pub actual_cost_usd: Option<f64>,
    /// How reliable the cost is, as the agent writes it.
    pub cost_status: Option<&'a str>,
    /// The source of the cost.
    pub cost_source: Option<&'a str>,
    /// The price list used.
    pub pricing_version: Option<&'a str>,
    /// The provider that bills.
    pub billing_provider: Option<&'a str>,
    /// The address that was called.
    pub billing_base_url: Option<&'a str>,
    /// The billing mode.
    pub billing_mode: Option<&'a str>,
}

impl From<&hermes_session::Usage> for Tokens {
    fn from(usage: &hermes_session::Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            api_call_count: usage.api_call_count,
        }
    }
}

impl<'a> From<&'a hermes_session::Usage> for Usage<'a> {
    fn from(usage: &'a hermes_session::Usage) -> Self {
        Self {
            tokens: usage.into(),
            estimated_cost_usd: usage.estimated_cost_usd,
            actual_cost_usd: usage.actual_cost_usd,
            cost_status: usage.cost_status.as_deref(),
            cost_source: usage.cost_source.as_deref(),
            pricing_version: usage.pricing_version.as_deref(),
            billing_provider: usage.billing_provider.as_deref(),
            billing_base_url: usage.billing_base_url.as_deref(),
            billing_mode: usage.billing_mode.as_deref(),
        }
    }
}
