/// A record that the index refers to.
struct IndexedRecord: Equatable {
  let address: RecordAddress
  let size: Int
}
