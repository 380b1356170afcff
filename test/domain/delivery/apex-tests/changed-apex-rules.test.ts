import { threadCpuMs } from '../../../support/thread-cpu.ts';
import {
  apexPath,
  type ApexUnit,
  apexUnit,
  changedCoverage,
  concernedTests,
  isSameSource,
  objectOfTrigger,
} from '../../../../domain/delivery/apex-tests/changed-apex-rules.ts';

const sources = {
  'a/Money.cls': 'public class Money { }',
  'a/Invoice.cls': 'public class Invoice { Money total; }',
  'a/InvoiceTest.cls': '@isTest class InvoiceTest { @isTest static void adds() { new INVOICE(); } }',
  'a/MoneyTest.cls': '@IsTest private class MoneyTest { static testMethod void sums() { Money m; } }',
  'a/Lonely.cls': 'public class Lonely { /* Money */ }',
  'a/Shape.cls': '/* of */ public interface Shape { }',
  'a/Factory.cls': "@isTest public class Factory { public static Object make() { return Type.forName('Invoice'); } }",
  'a/FactoryTest.cls': '@isTest class FactoryTest { @isTest(seeAllData=true) static void makes() { Factory.make(); } }',
  'a/OrderTrigger.trigger': '// first\ntrigger OrderTrigger on Order__c (before insert) { Lonely l; }',
  'a/OrderTest.cls': '@isTest class OrderTest { @isTest static void ships() { insert new Order__c(); } }',
};
const wanted = new Set(
  [...Object.keys(sources).map((path) => apexPath(path)?.name ?? ''), 'Order__c'].map((name) => name.toLowerCase()),
);
const units = Object.entries(sources).map(
  ([path, text]) => apexUnit(path, text, (word) => wanted.has(word)) as ApexUnit,
);
const unit = (name: string) => units.find((each) => each.name === name) as ApexUnit;

test('paths of Apex are told from others', () => {
  expect(apexPath('app/classes/A.cls')).toEqual({ name: 'A', kind: 'class', isSettings: false });
  expect(apexPath('app/triggers/B.trigger-meta.xml')).toEqual({ name: 'B', kind: 'trigger', isSettings: true });
  expect(apexPath('app/A.clsx')).toBeUndefined();
  expect(apexPath('app/a b.cls')).toBeUndefined();
  expect(apexUnit('app/A.cls-meta.xml', '', () => true)).toBeUndefined();
});

test('sources say what is a test, what can run, and what it names', () => {
  expect(unit('Factory')).toMatchObject({ isTest: true, isRunnable: false, hasCode: true });
  expect([...unit('Factory').words]).toContain('invoice');
  expect(unit('MoneyTest')).toMatchObject({ isTest: true, isRunnable: true });
  expect(unit('Shape')).toMatchObject({ isTest: false, hasCode: false });
  expect([...unit('Lonely').words]).toEqual(['lonely']);
  expect(unit('OrderTrigger').object).toBe('order__c');
  expect(objectOfTrigger('class A {}')).toBeNull();
});

test.each([
  [['Invoice'], ['InvoiceTest'], []],
  // The nearest test counts, not each that reaches it through others.
  [['Money'], ['MoneyTest'], []],
  [['MoneyTest'], ['MoneyTest'], []],
  [['Factory'], ['FactoryTest'], []],
  [['Lonely'], [], ['Lonely']],
  [['Shape'], [], []],
  [['OrderTrigger'], ['OrderTest'], []],
  [['Money', 'Invoice', 'OrderTest'], ['InvoiceTest', 'MoneyTest', 'OrderTest'], []],
])('what changed in %j concerns %j', (changed, tests, untested) => {
  expect(concernedTests(units, changed.map(unit))).toEqual({ tests, untested });
});

test('a class that no test names is reached through others', () => {
  const others = units.filter(({ name }) => name !== 'MoneyTest');
  expect(concernedTests(others, [unit('Money')]).tests).toEqual(['InvoiceTest']);
});

test('lines that changed are covered or not, and those that cannot be do not count', () => {
  const lines = { covered: [2, 3, 9], uncovered: [4, 10, 11] };
  expect(
    changedCoverage(
      [
        [3, 2],
        [10, 1],
        [20, 5],
      ],
      lines,
    ),
  ).toEqual({ lines: 3, covered: 1 });
});

test('sources are the same but for line ends', () => {
  expect(isSameSource('class A {\n}\n', '\uFEFFclass A {\r\n}')).toBe(true);
  expect(isSameSource('class A {\n}', 'class A {\n\n}')).toBe(false);
});

test('hostile source is read in a moment', () => {
  const read = () => {
    for (const piece of ["'\\", '/*', '@istest ', 'interface', '//', "'"])
      apexUnit('a/A.cls', piece.repeat(1_000_000 / piece.length), () => true);
  };
  expect(threadCpuMs(read)).toBeLessThan(10_000);
});
