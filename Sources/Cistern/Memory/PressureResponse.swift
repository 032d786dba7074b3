#if canImport(Darwin)
  import Dispatch
#endif

/// Gives memory back when the machine runs short of it: half of the budget's cost, each time the kernel says so.
///
/// On Linux, the kernel's pressure stall information says so: tasks of the machine stalled for memory for 300 ms within two
/// seconds. On Apple platforms, it is the memory pressure source. If the machine has neither, nothing happens.
final class PressureResponse: Sendable {
  #if canImport(Darwin)
    private let source: any DispatchSourceMemoryPressure

    init(budget: MemoryBudget) {
      let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical])
      source.setEventHandler { [weak budget] in budget?.giveBackHalf() }
      source.activate()
      self.source = source
    }

    deinit {
      source.cancel()
    }
  #else
    private let number: Int

    init(budget: MemoryBudget) {
      number = PressureWatch.shared.add(budget)
    }

    deinit {
      PressureWatch.shared.remove(number)
    }
  #endif
}

extension MemoryBudget {
  /// Evicts half of what is held.
  func giveBackHalf() { trim(toCost: cost / 2) }
}
