import '../cli/io.ts';
