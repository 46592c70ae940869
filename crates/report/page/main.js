buildFilters();
applyFilters();
buildCodeButtons();
// The first screen does not wait for the library of charts, the last script.
addEventListener("DOMContentLoaded", () => {
  buildCharts();
  buildTables();
  // For tests.
  document.documentElement.dataset.ready = "true";
});
