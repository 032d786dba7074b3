/// The result of a store's `verify()`: the number of checked records, and the defects.
public struct StoreVerification: Sendable {
  /// A defect in the data file of a store.
  ///
  /// The store deals with every defect by itself. It may remove records for this, but it never returns a wrong value.
  public struct Defect: Sendable, Hashable {
    /// The kind of a defect.
    public enum Kind: Sendable, Hashable {
      /// A record with a wrong checksum. A read of it is a miss, and the store then removes it.
      case damagedRecord
      /// A record without an entry in the eviction order. It would never be evicted.
      case unorderedRecord
      /// An entry of the eviction order that leads to no record with its number. Eviction drops it.
      case danglingOrder
      /// A record of a generation that is neither live nor dead. No reader sees it.
      case strayRecord
      /// A stored count that differs from the actual one. In a dense file, the number of records is compared alone.
      case wrongCount
      /// A file that cannot be read completely.
      case unreadable
    }

    /// The kind of the defect.
    public let kind: Kind
    /// The name of the cache that has the defect, or nil if it concerns no cache, or an unknown one.
    public let cache: String?
    /// The bytes of the key of the record, or nil if the defect concerns no record. Also nil for a key longer than 64
    /// bytes, because the record with the key is damaged.
    public let key: [UInt8]?
    /// A description of the defect and its place for a person.
    public let description: String

    package init(_ kind: Kind, cache: String? = nil, key: [UInt8]? = nil, description: String) {
      self.kind = kind
      self.cache = cache
      self.key = key
      self.description = description
    }
  }

  /// The highest number of elements of ``defects``.
  public static let longestList = 1000

  /// The first defects, at most ``longestList`` of them.
  public package(set) var defects: [Defect] = []
  /// The number of all defects.
  public package(set) var defectCount = 0
  /// The number of checked records. This includes invalidated records that the store has not removed yet.
  public package(set) var recordCount = 0
  /// The size of these records with their keys.
  public package(set) var recordBytes = ByteCount.bytes(0)

  /// Whether no defect was found.
  public var isSound: Bool { defectCount == 0 }

  package init() {}

  /// Counts a defect. Keeps it if the list is not full.
  package mutating func add(_ defect: Defect) {
    defectCount += 1
    if defects.count < StoreVerification.longestList { defects.append(defect) }
  }
}

extension StoreVerification.Defect: CustomStringConvertible {}
