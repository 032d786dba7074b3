/// The record that a removal has found.
enum RecordRemoval {
  case sound
  case damaged
}
