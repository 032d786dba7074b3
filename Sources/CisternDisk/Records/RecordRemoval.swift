/// The record that a removal has found.
enum RecordRemoval {
  case sound
  case damaged
}

/// A damaged record that was removed.
enum RemovedDamage {
  /// Observers have not learned of its end.
  case visible
  /// An invalidation in force covers it, as far as its fields are readable.
  case concealed
}
