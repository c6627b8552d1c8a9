import '../world.ts';
