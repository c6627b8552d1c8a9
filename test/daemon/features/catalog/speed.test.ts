import { describe, expect, test } from 'vitest';
import { SpeedMeter } from '../../../../src/daemon/features/catalog/index.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

const minuteMs = 60_000;

describe('live speed', () => {
  test('there are no numbers before the first attempt', () => {
    expect(new SpeedMeter(fakeWorld()).read('openai', 'm')).toBeNull();
  });

  test('percentiles are within 5 % of the measured values', () => {
    const speed = new SpeedMeter(fakeWorld());
    for (let ms = 1; ms <= 1000; ms += 1) speed.attempted('openai', 'm', { isOk: true, ttftMs: ms });
    speed.finished('openai', 'm', 80);
    const numbers = speed.read('openai', 'm');
    expect(numbers?.attempts).toBe(1000);
    expect(Math.abs((numbers?.ttftMsP50 ?? 0) / 500 - 1)).toBeLessThan(0.05);
    expect(Math.abs((numbers?.ttftMsP90 ?? 0) / 900 - 1)).toBeLessThan(0.05);
    expect(Math.abs((numbers?.tokensPerSecondP50 ?? 0) / 80 - 1)).toBeLessThan(0.05);
  });

  test('uptime counts failed attempts and broken answers', () => {
    const speed = new SpeedMeter(fakeWorld());
    for (let i = 0; i < 8; i += 1) speed.attempted('openai', 'm', { isOk: true });
    speed.attempted('openai', 'm', { isOk: false });
    speed.attempted('openai', 'm', { isOk: true });
    speed.broke('openai', 'm');
    expect(speed.read('openai', 'm')).toMatchObject({ attempts: 10, uptime: 0.8, ttftMsP50: null });
  });

  test('numbers older than an hour are dropped, slice by slice', async () => {
    const world = fakeWorld();
    const speed = new SpeedMeter(world);
    speed.attempted('openai', 'm', { isOk: false });
    await world.advance(30 * minuteMs);
    speed.attempted('openai', 'm', { isOk: true });
    expect(speed.read('openai', 'm')).toMatchObject({ attempts: 2, uptime: 0.5 });
    await world.advance(30 * minuteMs);
    expect(speed.read('openai', 'm')).toMatchObject({ attempts: 1, uptime: 1 });
    await world.advance(30 * minuteMs);
    expect(speed.read('openai', 'm')).toBeNull();
  });

  test('the number of tracked models is limited', () => {
    const speed = new SpeedMeter(fakeWorld());
    for (let i = 0; i < 1_500; i += 1) speed.attempted('any', `m${i}`, { isOk: true });
    expect(speed.read('any', 'm0')).toBeNull();
    expect(speed.read('any', 'm1499')).not.toBeNull();
  });
});
