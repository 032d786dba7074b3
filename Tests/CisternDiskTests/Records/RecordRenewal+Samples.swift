@testable import CisternCore
@testable import CisternDisk

extension RecordRenewal {
  /// A renewal of a record whose time of creation no other test uses.
  static var sample: RecordRenewal {
    func metadata(_ time: Int64) -> RecordMetadata {
      RecordMetadata(created: WallTime(nanosecondsSince1970: time), cost: 1)
    }
    let value = [UInt8](repeating: 7, count: leastValueSize)
    let draft = RecordDraft(key: [1], metadata: metadata(7778), bytes: value)
    guard let renewal = RecordRenewal(of: metadata(7777), value.rawSpan, as: draft) else {
      preconditionFailure("the two records differ only in their times")
    }
    return renewal
  }
}
