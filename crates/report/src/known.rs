//! Stopgap, until a record holds its case: the case of a record, by the methods that the program has.

use std::sync::OnceLock;

use writebench_model::{Axis, Case, CaseRecord, MethodInfo};

static METHODS: OnceLock<Vec<&'static MethodInfo>> = OnceLock::new();

/// Tells of the methods that there are, before the first report.
pub fn set_methods(methods: Vec<&'static MethodInfo>) {
    METHODS.get_or_init(|| methods);
}

/// The case of a record; why this version does not know it.
pub(crate) fn case(record: &CaseRecord) -> Result<Case, String> {
    #[cfg(test)]
    set_methods(writebench_engine::method_infos());
    let values = record.axes.iter().map(|(name, value)| {
        let axis = Axis::from_name(name).ok_or_else(|| format!("axis {name} is not known here"))?;
        Ok((axis, value.as_str()))
    });
    let values = values.collect::<Result<Vec<_>, String>>()?;
    let mut methods = METHODS.get().into_iter().flatten();
    let method = methods.find(|method| method.name == record.method);
    let method = method.ok_or_else(|| format!("method {} is not known here", record.method))?;
    Case::new(method, &values).map_err(|error| error.to_string())
}
