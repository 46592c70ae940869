//! Throughput by chunk size: a line for each label, or for each method where there are no labels.

use super::{
    Chart, Drawn, Kind, Point, Question, Row, Series, Unit, YAxis, as_f64, chunk_axis, chunk_bytes,
    chunk_sizes, figures_are, grouped, notes, point, without_chunk, y_scale,
};

/// Of fewer sizes a table says as much.
const FEWEST_SIZES: usize = 3;

/// A chart for each target, and for each contract: nothing else is compared.
pub(super) fn charts(section: &str, rows: &[Row<'_>]) -> Vec<Drawn> {
    let mut charts = Vec::new();
    let targets = grouped(rows, |row| row.target);
    for (target, rows) in &targets {
        let contracts = grouped(rows, contract);
        for (contract, rows) in &contracts {
            if chunk_sizes(rows).len() < FEWEST_SIZES {
                continue;
            }
            let mut stem = "throughput-by-chunk-size".to_owned();
            if targets.len() > 1 {
                stem += &format!("-{target}");
            }
            if contracts.len() > 1 {
                stem += &format!("-{}", promise(&rows[0]));
            }
            charts.push(Drawn {
                of: Question::ThroughputByChunk,
                stem,
                chart: chart(section, target, contract, rows),
            });
        }
    }
    charts
}

/// What contracts mostly differ in, for a file's name.
fn promise(row: &Row<'_>) -> String {
    let contract = &row.case.record.contract;
    let every = if contract.durable_every_bytes.is_some() { "-on-the-way" } else { "" };
    format!("{}{every}", contract.durability)
}

/// What the caller has at the end. That all of it is durable every chunk is one contract: how often is the axis.
fn contract(row: &Row<'_>) -> String {
    let mut contract = row.case.record.contract.clone();
    let every_chunk = contract.durable_every_bytes.take();
    let chunks = every_chunk.zip(chunk_bytes(row)).map(|(every, chunk)| every / chunk);
    match chunks {
        Some(1) => format!("{contract} every chunk"),
        Some(chunks) => format!("{contract} every {chunks} chunks"),
        None => contract.to_string(),
    }
}

fn chart(section: &str, target: &str, contract: &str, rows: &[Row<'_>]) -> Chart {
    let name = |row: &Row<'_>| row.case.record.label.clone().unwrap_or_else(|| without_chunk(row));
    // Where rows differ in more than label and chunk, the label says too little.
    let place = |row: &Row<'_>| (name(row), chunk_bytes(row));
    let is_unique = grouped(rows, place).iter().all(|(_, rows)| rows.len() == 1);
    let series = grouped(rows, |row| if is_unique { name(row) } else { without_chunk(row) });
    let series = series.into_iter().map(|(name, rows)| {
        let throughput = |row: &Row<'_>| {
            let figure = row.case.estimate.as_ref().map(|estimate| &estimate.throughput_bytes_per_s);
            Some(point(as_f64(chunk_bytes(row)?), row, figure, 1.0))
        };
        let mut points: Vec<Point> = rows.iter().filter_map(throughput).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name, points }
    });
    let mut series: Vec<Series> = series.collect();
    let common = shorten_names(&mut series);
    let common = if common.is_empty() { common } else { format!(" ({common})") };
    Chart {
        title: format!("Throughput by chunk size, {target}"),
        subtitle: format!("{section}. {contract}{common}: {}", figures_are(rows, "higher")),
        kind: Kind::Lines,
        x: chunk_axis("chunk size", &chunk_sizes(rows)),
        y: YAxis { label: "Throughput".to_owned(), unit: Unit::BytesPerSecond, scale: y_scale(&series) },
        series_are_ordered: false,
        series,
        notes: notes::causes(rows),
    }
}

/// Leaves out of the names what they have in common, which is returned.
fn shorten_names(series: &mut [Series]) -> String {
    let Some((first, others)) = series.split_first() else { return String::new() };
    let in_all = |part: &&str| {
        part.contains('=') && others.iter().all(|series| series.name.split(',').any(|other| other == *part))
    };
    let common: Vec<String> = first.name.split(',').skip(1).filter(in_all).map(str::to_owned).collect();
    for series in series {
        let own = series.name.split(',').filter(|part| common.iter().all(|other| other != part));
        series.name = own.collect::<Vec<_>>().join(",");
    }
    common.join(",")
}
