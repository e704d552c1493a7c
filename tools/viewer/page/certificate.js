// What was proved, and what was assumed.
// SPDX-License-Identifier: Apache-2.0

function certificateTab(shown) {
  const c = shown.plan.certificate;
  const list = (items) => element('ul', { class: 'plain' }, ...items.map((item) => element('li', {}, item)));
  return [note('Proved when this page was made' + (c.carried ? '; the plan also carries a certificate.' : '.')),
    definitions([['Checker', c.checker], ['Plan hash', element('code', {}, c.hash)]]),
    element('h2', { class: 'above' }, 'Proved'), list(c.proved),
    ...(c.assumed.length ? [element('h2', {}, 'Assumed'), list(c.assumed)] : [])];
}
