// What was proved, and what was assumed.
// SPDX-License-Identifier: Apache-2.0

function drawCertificate() {
  const c = DATA.certificate;
  const list = (items) => element('ul', { class: 'plain' }, ...items.map((item) => element('li', {}, item)));
  fill($('tab-certificate'),
    element('p', { class: 'note' }, 'Proved when this page was made' + (c.carried ? '; the plan also carries a certificate.' : '.')),
    rows([['Checker', c.checker], ['Plan hash', element('code', {}, c.hash)]]),
    element('h2', { style: 'margin-top:12px' }, 'Proved'), list(c.proved),
    ...(c.assumed.length ? [element('h2', {}, 'Assumed'), list(c.assumed)] : []));
}
