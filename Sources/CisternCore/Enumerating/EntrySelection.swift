/// The entries of a cache that an enumeration returns.
public struct EntrySelection: Sendable, Hashable {
  /// The bytes with which the keys begin.
  @usableFromInline let prefix: [UInt8]
  /// The tag that the values have; nil for any.
  @usableFromInline let tag: String?

  /// All entries.
  public static var all: EntrySelection { EntrySelection(prefix: [], tag: nil) }

  /// The entries whose keys begin with the prefix.
  ///
  /// In a file with the layout ``DiskLayout/dense``, the enumeration visits all records of the cache. In one with the
  /// layout ``DiskLayout/ordered``, it visits those of these entries, and of all keys of more than 64 bytes.
  public static func withPrefix(_ prefix: KeyPrefix) -> EntrySelection {
    EntrySelection(prefix: prefix.bytes, tag: nil)
  }

  /// The entries whose values have the tag. No index of tags exists, so the enumeration visits all entries.
  public static func tagged(_ tag: String) -> EntrySelection { EntrySelection(prefix: [], tag: tag) }

  /// These entries, as far as their values have the tag.
  public func tagged(_ tag: String) -> EntrySelection { EntrySelection(prefix: prefix, tag: tag) }

  @inlinable
  func includes(tags: [String]) -> Bool { tag.map { tags.contains($0) } ?? true }
}
