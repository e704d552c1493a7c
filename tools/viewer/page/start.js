// Shows the page; the build puts it last. `page` is for tests.
// SPDX-License-Identifier: Apache-2.0

readTheme();
const page = (() => {
  const plans = DATA.plans.map((json) => new PlanData(json));
  const empty = plans.find((plan) => plan.entries.length === 0);
  if (empty) {
    $('plan-name').textContent = empty.name;
    $('figures').textContent = 'no entry in this plan: there is nothing to draw';
    return null;
  }
  if (DATA.diff) return new DiffPage(plans, DATA.diff);
  const view = new ViewPage(plans[0]);
  view.followFragment();
  return view;
})();
requestAnimationFrame(() => requestAnimationFrame(() => { document.body.dataset.ready = 'yes'; }));
