//! A demand that a file rule makes at the current event.

use engine::decide::Demand;

use super::baseline_id::BaselineId;
use super::queue::demand_hash;

pub struct OpenDemand {
    pub demand: Demand,
    pub baseline_id: BaselineId,
    /// The result of [`demand_hash`], which takes long to compute if there are very many files.
    pub hash: String,
}

impl OpenDemand {
    pub fn new(demand: Demand, baseline_id: BaselineId) -> Self {
        let hash = demand_hash(&demand.rule.id, demand.file_match.trigger_files(), &baseline_id.id);
        Self { demand, baseline_id, hash }
    }

    /// The id of the rule that makes the demand.
    pub fn rule_id(&self) -> &str {
        &self.demand.rule.id
    }
}
