/// What a committed write survives. Neither kind is ever left corrupt: what cannot be trusted after a power cut is
/// set aside, reported, and begun anew.
///
/// A write is staged first and committed with others soon after (``Store/Configuration/commitInterval``). Both a crash
/// of the process and a power cut lose what was staged and not yet committed; if that was an overwrite or a removal of
/// a key that is on disk, the value that it replaced is back. Waiting for the commit, or `flush()`, excludes that.
public enum Durability: Sendable, Hashable {
  /// Every commit is written through to the device, in order.
  ///
  /// A process crash loses no commit. A power cut loses at most the newest commit, and not even that one if anybody
  /// waited for it, or flushed: then it is written through a second time, before the waiter returns. The file is
  /// always whole. Costs one synchronous write to the device a commit: about a millisecond on a solid-state disk.
  case powerCut

  /// Commits are handed to the operating system, which writes them when it likes.
  ///
  /// A process crash loses no commit. A power cut, or a crash of the system, loses the whole file, unless the store was
  /// closed before: the operating system may have written some pages and not others, so the file is set aside unread
  /// the next time it is opened, and an empty one is begun. Several times faster than ``powerCut`` for small commits.
  case processCrash
}
