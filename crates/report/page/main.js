buildFilters();
applyFilters();
buildCodeButtons();
// The library for charts comes last in the page: the first screen does not wait for it.
addEventListener("DOMContentLoaded", () => {
  buildCharts();
  buildTables();
  // For those who look whether the page works.
  document.documentElement.dataset.ready = "true";
});
