import '../daemon/world.ts';
