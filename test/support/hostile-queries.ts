export const long = (length: number) => 'x'.repeat(length);
const doublings = (count: number) =>
  Array.from({ length: count }, (_, index) => `a${index + 1}=a${index}+a${index}`).join(',');
export const nested = (count: number, opening: string, inner: string, closing: string) =>
  opening.repeat(count) + inner + closing.repeat(count);

/** Each ended the store, or took it for long, or showed the label of the tenant; or is a way round what refuses those. */
export const HOSTILE_QUERIES: readonly [string, string][] = [
  [
    'joins of a long text',
    `label_join(label_set(1,"k","${long(7_000)}"),"z","${long(7_000)}","k","k","k","k","k","k")`,
  ],
  ['templates that double a text', `WITH (a0="${long(1_000)}",${doublings(7)}) label_set(1,"k",a7)`],
  ['templates that double an expression', `with (a0=x,${doublings(17)}) a17`],
  ['templates behind a comment', `wITH # (\n (a=x) a`],
  ['one join of many labels', `label_join(x,"z","",${'"k",'.repeat(39)}"k")`],
  ['joins of joins', nested(6, 'label_join(', 'x', ',"k","-","k","k","k")')],
  ['a replacement that repeats what it found', `label_replace(x,"k","${'$1'.repeat(40)}","k","(.*)")`],
  ['replacements of replacements', nested(7, 'label_replace(', 'x', ',"k","$1$1","k","(.*)")')],
  ['a replacement at each character', `label_transform(x,"k","","${long(1_000)}")`],
  ['groups that repeat', `label_graphite_group(x,${'0,'.repeat(39)}0)`],
  ['texts that are added up', `label_set(x,"k","${long(600)}"+"${long(600)}")`],
  ['a text as an expression', `label_set("${long(2_000)}","k","v")`],
  ['a name of a series that is a text', `label_join(("${long(5_000)}"),"k","","__name__","__name__")`],
  ['a text that is computed', `label_set(x,"k",label_set("a","__name__","b"))`],
  ['a text in parentheses', `label_set(x,"k",("a"))`],
  ['labels of what is absent', `label_join(absent({a="${long(3_000)}"}),"z","","a","a")`],
  ['many functions that write labels', nested(11, 'label_set(', 'x', ',"k","v")')],
  ['capitals', `LABEL_JOIN(x,"z","",${'"k",'.repeat(39)}"k")`],
  ['dots for underscores', `label.join(x,"z","",${'"k",'.repeat(39)}"k")`],
  ['escapes in a name', `label\\_join(x,"z","",${'"k",'.repeat(39)}"k")`],
  ['a comment before the parenthesis', `label_join # "\n (x,"z","",${'"k",'.repeat(39)}"k")`],
  ['an aggregate in a join', `label_join(sum(x) by (a), "z", "", ${'"a",'.repeat(39)}"a")`],
  ['depth', nested(51, '(', 'x', ')')],
  ['many selectors', `x${'+x'.repeat(200)}`],
  ['many selectors in braces', `{a="b"}${'+{a="b"}'.repeat(200)}`],
  ['parentheses that do not match', 'sum(x]'],
  ['what closes nothing', 'x)'],
  ['the label of the tenant', '{__tenant_id__="x"}'],
  ['it in dots', '{.:__tenant_id__="x"}'],
  ['it in a group', 'sum by (__tenant_id__) (x)'],
  ['it in quotes', '{"__tenant_id__"="x"}'],
  ['it with escapes', String.raw`label_copy(x,"\x5f_tenant\u005fid__","k")`],
  ['it in octal', String.raw`label_copy(x,"\137_tenant_id__","k")`],
  ['it with escapes as a name', String.raw`x{__tenant\_id__="y"}`],
  ['it from parts', 'label_copy(x,"__tenant"+"_id__","k")'],
  ['it as a source', 'label_replace(x,"k","$1","__tenant_id__","(.*)")'],
  ['it as a target', 'label_set(x,"__tenant_id__","y")'],
  ['it removed', 'label_del(x,"__tenant_id__")'],
  ['it as the rest of a topk', 'topk(1,x,"__tenant_id__=y")'],
  ['it with a prefix', 'x * on (org) group_left(*) prefix "p" y'],
];
