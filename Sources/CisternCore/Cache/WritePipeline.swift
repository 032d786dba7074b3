/// The steps of every write to the two tiers: prepare, decide, apply.
///
/// - *Prepare*, outside all locks: the value is weighed and encoded (`WritePipeline+Preparing.swift`).
/// - *Decide*, inside the key's critical section: ``WriteDecision`` decides, and stages the write.
/// - *Apply*: the change is recorded, and the entry changes. After unlocking, observers are notified.
@usableFromInline
final class WritePipeline<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let secondTier: SecondTierBinding<Key>?
  @usableFromInline let observers: ObserverRegistry<Key, Value>
  @usableFromInline let edits: EditedKeys<Key, Value>
  @usableFromInline let lifetimes: Lifetimes<Key, Value>
  @usableFromInline let reports: CacheReports
  @usableFromInline let codec: ValueCodec<Value>?
  @usableFromInline let weigher: (@Sendable (Value) -> Int)?
  @usableFromInline let tagsOfValue: (@Sendable (Value) -> [String])?
  /// The version of the schema that records are written in.
  @usableFromInline let schemaVersion: UInt32
  /// Whether memory can hold the values. Without it, a value that the second tier refuses is lost.
  @usableFromInline let usesMemory: Bool
  /// Whether a value that is stored without options has no lifetime and no tags, and memory alone holds it.
  @usableFromInline let storesPlainly: Bool

  init(_ parts: CacheParts<Key, Value>, _ configuration: CacheConfiguration<Value>) {
    table = parts.table
    secondTier = parts.secondTier
    observers = parts.observers
    edits = parts.edits
    lifetimes = parts.lifetimes
    reports = parts.reports
    codec = parts.codec
    weigher = configuration.weigher
    tagsOfValue = configuration.tagsOfValue
    schemaVersion = configuration.schema?.version ?? 0
    usesMemory = configuration.tiers != .secondTierOnly
    storesPlainly =
      secondTier == nil && codec == nil && lifetimes.expiry.isNever && lifetimes.expiryOfValue == nil
      && tagsOfValue == nil && !lifetimes.measuresAge
  }
}
