/// A damaged record that was removed.
enum RemovedDamage {
  /// Observers have not learned of its end.
  case visible
  /// An invalidation in force covers it, as far as its fields are readable.
  case concealed
}
