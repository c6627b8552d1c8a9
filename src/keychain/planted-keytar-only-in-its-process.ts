import 'keytar';
