import { describe, expect, test } from 'vitest';
import {
  connectSeconds,
  databaseUrlProblem,
  hasPassword,
  serverAddresses,
  withoutPassword,
} from '../../../src/shared/storage/database-url.ts';

describe('an address of a database', () => {
  test.each([
    ['postgres://gateway@db.lan/gateway', ['postgres://gateway@db.lan/gateway']],
    ['postgres://u:p@a:1,b/d?x=1', ['postgres://u:p@a:1/d?x=1', 'postgres://u:p@b/d?x=1']],
    ['postgresql://[::1]:5,[::2]/d', ['postgresql://[::1]:5/d', 'postgresql://[::2]/d']],
    ['postgres://u:p@ss@a,b/d', ['postgres://u:p@ss@a/d', 'postgres://u:p@ss@b/d']],
    ['postgres://u@%2Frun%2Fa,%2Frun%2Fb/d', ['postgres://u@%2Frun%2Fa/d', 'postgres://u@%2Frun%2Fb/d']],
  ])('%s names a server per host', (address, servers) => {
    expect(databaseUrlProblem(address)).toBeUndefined();
    expect(serverAddresses(address)).toEqual(servers);
  });

  test.each([
    'gateway.db',
    'http://a/d',
    'postgres://u@/d',
    'postgres://u@a,/d',
    'postgres://,a/d',
    'postgres://a,,b/d',
    'postgres://a:port/d',
    'postgres://a,b:99999/d',
    'postgres:a/d',
  ])('%s is refused', (address) => {
    expect(databaseUrlProblem(address)).toMatch(/^must be an address like postgres:/);
  });

  test.each(['postgres://u:1/secret@a/d', 'postgres://u:1#secret@a/d', 'postgres://u:1?secret@a/d'])(
    '%s is refused because of the characters of its password',
    (address) => {
      expect(databaseUrlProblem(address)).toMatch(/percent codes/);
    },
  );

  test.each([
    ['postgres://u:secret@a/d', 'postgres://u@a/d'],
    ['postgres://a/d?password=secret', 'postgres://a/d'],
    ['postgres://a:secret@a:1,b:2/d?sslmode=require', 'postgres://a@a:1,b:2/d?sslmode=require'],
    ['postgres://u:1#secret@a/d', 'postgres://***'],
    ['postgres://u:1/secret@a/d', 'postgres://***'],
    ['postgres://u:1?secret@a/d', 'postgres://***'],
    ['postgres://u@a/d?sslpassword=secret&sslmode=require', 'postgres://u@a/d?sslmode=require'],
    ['postgres://u:se,cret@a,b/d', 'postgres://u@a,b/d'],
    ['postgres://u:secret@a,/d', 'postgres://***'],
  ])('%s is shown without its password', (address, shown) => {
    expect(withoutPassword(address)).toBe(shown);
  });

  test('a mode of encryption that is none is refused', () => {
    expect(databaseUrlProblem('postgres://u@a/d?sslmode=required')).toMatch(/sslmode$/);
    expect(databaseUrlProblem('postgres://u@a/d?sslmode=verify-ca')).toBeUndefined();
  });

  test.each([
    ['', 3],
    ['?connect_timeout=15', 15],
    ['?connect_timeout=0', 3],
    ['?connect_timeout=-1', 3],
    ['?connect_timeout=soon', 3],
    ['?connect_timeout=99999999999', 3600],
  ])('with %s has servers that get %d seconds', (search, seconds) => {
    expect(connectSeconds(`postgres://u@a/d${search}`)).toBe(seconds);
  });

  test('has a password in either place', () => {
    expect(
      ['postgres://u@a,b/d', 'postgres://u:p@a,b/d', 'postgres://a/d?password=p'].map(hasPassword),
    ).toEqual([false, true, true]);
  });
});
