import 'diff';
