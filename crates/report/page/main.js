buildFilters();
applyFilters();
buildCodeButtons();
buildCharts();
buildTip();
buildTables();
// For tests.
document.documentElement.dataset.ready = "true";
