// `owned_charge` is a copy of a charge, with its names, limit and penalty, that outlives the asker.
// It has no lease and no correction.
#pragma once

#include "gateway/store/store.hpp"

#include <string>

namespace gateway::store {

class owned_charge {
public:
    explicit owned_charge(const charge& c)
        : limit_name_(c.limit_name),
          bucket_name_(c.bucket_name.bytes()),
          limit_(*c.limit),
          penalty_(c.penalty == nullptr ? limit::penalty{} : *c.penalty),
          charge_(c)
    {
        charge_.limit_name = limit_name_;
        charge_.bucket_name = base::hashed_name{bucket_name_, c.bucket_name.hash()};
        charge_.limit = &limit_;
        charge_.penalty = c.penalty == nullptr ? nullptr : &penalty_;
        charge_.lease = nullptr;
        charge_.correction = nullptr;
        charge_.receipt = {};
    }

    owned_charge(const owned_charge&) = delete;
    owned_charge& operator=(const owned_charge&) = delete;

    const charge& get() const { return charge_; }

private:
    std::string limit_name_;
    std::string bucket_name_;
    limit::limit limit_;
    limit::penalty penalty_;
    charge charge_;
};

}  // namespace gateway::store
