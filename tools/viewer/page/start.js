// Shows the page; the build puts it last. `page` is for tests.
// SPDX-License-Identifier: Apache-2.0

readTheme();
const page = (() => {
  const plans = DATA.plans.map((json) => new PlanData(json));
  if (DATA.diff) return new DiffPage(plans, DATA.diff);
  if (plans[0].entries.length === 0) return null;
  const view = new ViewPage(plans[0]);
  view.followFragment();
  return view;
})();
requestAnimationFrame(() => requestAnimationFrame(() => { document.body.dataset.ready = 'yes'; }));
