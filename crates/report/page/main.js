buildFilters();
applyFilters();
buildCodeButtons();
buildCharts();
buildTables();
// For tests.
document.documentElement.dataset.ready = "true";
