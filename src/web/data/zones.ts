import { isTimeZone } from '../../shared/time/time-zones.ts';

/** Zones whose names in the IANA database are newer than those that browsers list. */
const renamed = [
  'Africa/Asmara',
  'America/Argentina/Buenos_Aires',
  'America/Argentina/Catamarca',
  'America/Argentina/Cordoba',
  'America/Argentina/Jujuy',
  'America/Argentina/Mendoza',
  'America/Atikokan',
  'America/Ciudad_Juarez',
  'America/Indiana/Indianapolis',
  'America/Kentucky/Louisville',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'Pacific/Chuuk',
  'Pacific/Kanton',
  'Pacific/Pohnpei',
];

/** All time zones but UTC, by their names. */
export function zoneNames(): string[] {
  const names = new Set([...Intl.supportedValuesOf('timeZone'), ...renamed.filter(isTimeZone)]);
  names.delete('UTC');
  return [...names].sort();
}
