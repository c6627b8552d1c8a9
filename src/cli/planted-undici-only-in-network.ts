import 'undici';
