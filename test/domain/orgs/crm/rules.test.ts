import { isSameOrgId, longId } from '../../../../domain/orgs/crm/org-id-rules.ts';
import { soqlName, soqlText } from '../../../../domain/kernel/text/soql-rules.ts';

test('ids of 15 characters get their case-safe form', () => {
  expect(longId('00DD0000000ABCd')).toHaveLength(18);
  expect(longId('001A0000006Vm9r')).toBe('001A0000006Vm9rIAC');
  expect(longId('001A0000006Vm9rIAC')).toBe('001A0000006Vm9rIAC');
  expect(isSameOrgId('001A0000006Vm9r', '001A0000006Vm9rIAC')).toBe(true);
  expect(isSameOrgId('001A0000006Vm9r', '001A0000006VM9r')).toBe(false);
});

test('a literal of SOQL cannot be left', () => {
  expect(soqlText("o'brien")).toBe("'o\\'brien'");
  expect(soqlText("x\\' OR Id != '")).toBe("'x\\\\\\' OR Id != \\''");
  expect(soqlText('a\nb')).toBe("'a\\u000ab'");
});

test('only names are taken for fields', () => {
  expect(soqlName('SfdxAuthUrl__c')).toBe('SfdxAuthUrl__c');
  for (const name of ['', 'a b', 'Id FROM User', "x'", '1a', 'é'])
    expect(() => soqlName(name)).toThrow('not the name of a field');
});
