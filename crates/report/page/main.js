buildFilters();
buildCharts();
buildTables();
applyFilters();
// For those who look whether the page works.
document.documentElement.dataset.ready = "true";
